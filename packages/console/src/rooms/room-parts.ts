// All that a room is shown with, loaded together.
export { default as Digest } from "./Digest.svelte";
export { default as People } from "./People.svelte";
export { default as RoomView } from "./RoomView.svelte";
