// A thief with full control of an agent, at a gate two hops below the tree it calls.
import { attackFrom } from "./support/attack-from.ts";

attackFrom("two hops below");
