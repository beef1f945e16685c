import { register } from "./keys.js";
