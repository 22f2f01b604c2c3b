// A thief with full control of an agent, at a gate of the tree it calls.
import { attackFrom } from "./support/attack-from.ts";

attackFrom("here");
