// One topic over two gateways: who owns it, what an append is allowed to do, and what a reader that resumes is given.
// The engine is PostgreSQL; each d_step stands for one statement of it. A gateway may be paused at any point (the
// scheduler does it) or killed; a lease may end while its holder is paused. `tests/models` checks that this text holds
// as it is, and that each of these defines, which breaks one rule, makes it fail:
//
//   NO_FENCE      an append does not name the epoch of its owner
//   NO_BUMP       a takeover leaves the epoch as it was
//   DELIVER_FIRST an envelope is delivered before it is committed

#define messages 2
#define seqs 3
#define killsMax 1
#define takeoversMax 2

// The engine: the head of the topic, its entries, and the epoch of its owner.
byte epoch = 1;
byte owner = 0;
byte last = 0;
byte entry[seqs];
byte takeovers = 0;
byte kills = 0;

// The wire between the sender and each gateway, and between each gateway and the reader's edge.
chan sent[2] = [1] of { byte };
chan acks = [1] of { byte, byte };
chan delivered[2] = [1] of { byte, byte };

// What the sender was told, and what the reader was given.
byte ackedAt[messages];
byte seen[seqs];
byte position = 0;

#define seqOf(id) (entry[0] == id -> 1 : (entry[1] == id -> 2 : (entry[2] == id -> 3 : 0)))

#define isKept(id) (ackedAt[id - 1] == 0 || entry[ackedAt[id - 1] - 1] == id)
#define isRead(seq) (position < seq || seen[seq - 1] == entry[seq - 1])
#define isOnce(a, b) (last < b || entry[a - 1] != entry[b - 1])

// What was acknowledged is kept; what was read is what is kept, without a gap; no message stands there twice.
inline checkPromises() {
  assert(isKept(1) && isKept(2));
  assert(isRead(1) && isRead(2) && isRead(3));
  assert(isOnce(1, 2) && isOnce(1, 3) && isOnce(2, 3))
}

proctype Gateway(byte me) {
  bool isOwner = me == 0;
  byte myEpoch = isOwner;
  byte myLast = 0;
  byte id = 0;
  byte seq = 0;
  bool isNew = false;
  // Waiting is no deadlock: nobody has to send, to take over or to read.
end:
  do
  // The lease of the owner has ended, or its peers know that it is dead: both are "at any time" here.
  :: d_step {
       !isOwner && owner != me && takeovers < takeoversMax ->
       takeovers++;
#ifndef NO_BUMP
       epoch++;
#endif
       owner = me;
       myEpoch = epoch;
       myLast = last;
       isOwner = true
     }
  // Killed: nothing that it knew is left, and what was sent to it is lost.
  :: d_step {
       kills < killsMax ->
       kills++;
       if :: owner == me -> owner = 2 :: else fi;
       isOwner = false;
       myEpoch = 0;
       myLast = 0;
       do :: sent[me]?id :: empty(sent[me]) -> break od;
       id = 0
     }
  :: sent[me]?id ->
     if
     :: !isOwner -> skip // refused: the sender tries again, at either gateway
     :: isOwner ->
#ifdef DELIVER_FIRST
        if :: delivered[me]!id, myLast + 1 :: true fi;
#endif
        d_step {
          if
#ifndef NO_FENCE
          :: myEpoch != epoch -> isOwner = false; myEpoch = 0; myLast = 0 // no row was updated: fenced
          :: else ->
             seq = seqOf(id);
             if
             :: seq == 0 && last < seqs ->
                // A participant that the new owner has demoted must not speak through the old one.
                assert(owner == me);
                entry[last] = id; last++; seq = last; isNew = true;
                checkPromises()
             :: else
             fi;
             myLast = last
#else
          // Without the fence it trusts what it remembers, as the owner it no longer is.
          :: myLast < seqs ->
             entry[myLast] = id; myLast++; seq = myLast; isNew = true;
             if :: last < myLast -> last = myLast :: else fi;
             checkPromises()
          :: else
#endif
          fi
        };
        // Between the commit and these it may be paused for as long as it takes; full wires lose what is sent.
        if
        :: seq > 0 ->
           if :: acks!id, seq :: true fi;
#ifndef DELIVER_FIRST
           if :: isNew -> if :: delivered[me]!id, seq :: true fi :: else fi
#endif
        :: else
        fi
     fi;
     d_step { id = 0; seq = 0; isNew = false }
  od
}

// Sends each message until it is acknowledged, to either gateway, and the next one only then.
proctype Sender() {
  byte id = 1;
  byte at = 0;
  byte which = 0;
end:
  do
  :: id > messages -> break
  :: id <= messages && nfull(sent[0]) -> sent[0]!id
  :: id <= messages && nfull(sent[1]) -> sent[1]!id
  :: acks?which, at ->
     d_step {
       // An answer that comes twice says the same twice.
       assert(ackedAt[which - 1] == 0 || ackedAt[which - 1] == at);
       ackedAt[which - 1] = at;
       checkPromises();
       if :: which == id -> id++ :: else fi;
       which = 0;
       at = 0
     }
  od
}

// A reader behind an edge: takes what follows, drops what it has, and reads what is missing from the engine.
proctype Reader() {
  byte id = 0;
  byte seq = 0;
end:
  do
  :: if :: delivered[0]?id, seq :: delivered[1]?id, seq fi;
     d_step {
       if :: seq == position + 1 -> seen[position] = id; position = seq; checkPromises() :: else fi;
       id = 0;
       seq = 0
     }
  :: d_step { position < last -> seen[position] = entry[position]; position++; checkPromises() }
  od
}

init {
  atomic {
    run Gateway(0);
    run Gateway(1);
    run Sender();
    run Reader()
  }
}
