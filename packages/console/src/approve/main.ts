// Where the page behind the address of an approval begins, or that of an invitation to become an approver.
import { mount } from "svelte";
import "../app.css";
import Approve from "./Approve.svelte";
import Enrol from "./Enrol.svelte";

const target = document.getElementById("app");
const page = location.pathname.startsWith("/approve/enroll/") ? Enrol : Approve;
if (target !== null) mount(page, { target });
