// Where the page begins on which a person lets a client in.
import { mount } from "svelte";
import "../app.css";
import Authorize from "./Authorize.svelte";

const target = document.getElementById("app");
if (target !== null) mount(Authorize, { target });
