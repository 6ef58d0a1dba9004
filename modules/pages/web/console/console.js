// The console: the session, and the views of accounts and usage.
import { byId, on, say } from "./shared/dom.js";
import { exists, showHeader, showWho } from "./shared/header.js";
import { Session, claimsOf, takeTokenFromAddress } from "./shared/session.js";
import { Accounts } from "./accounts.js";
import { confirmSignIn } from "./dialogs.js";
import { Login } from "./login.js";
import { Usage } from "./usage.js";

const warnBefore = 5 * 60; // seconds
const message = byId("message");
let settings = { local: true };
let login = null;
let timer = 0;

const session = new Session("user", { changed: show });
const page = {
  scopes: [],
  say: (text, kind) => say(message, text, kind),
  fail(error) {
    if (error.status === 401) leave("Your sign-in is not valid any more. Sign in again.");
    else say(message, error.message, "error");
  },
  usage(account) {
    view("usage");
    usage.open(account);
  },
};
const accounts = new Accounts(session, page);
const usage = new Usage(session, page);

// view switches to one of the two views.
function view(name) {
  for (const each of ["accounts", "usage"]) {
    byId(each + "-view").hidden = each !== name;
    byId("show-" + each).setAttribute("aria-pressed", each === name);
  }
}

// organizationOf returns the organization by the claim that the server uses.
const organizationOf = (claims) =>
  claims[claims.iss === settings.issuer ? settings.organizationClaim : "org"];

const nameOf = (claims) => claims.email ?? claims.preferred_username ?? claims.sub ?? "";

// problemWith returns an error that is visible in the token itself.
function problemWith(claims) {
  if (!claims.exp) return "This is not a user token. It begins with eyJ and has two dots.";
  if (claims.exp * 1000 <= Date.now()) return "This token has expired. Get a new one.";
  return organizationOf(claims) ? "" : "This token names no organization.";
}

// enter signs in with a token, and returns the error if there is one.
function enter(token) {
  const wrong = problemWith(claimsOf(token));
  if (wrong) return wrong;
  say(message, "");
  const claims = claimsOf(token);
  session.use(token, { name: nameOf(claims), organization: organizationOf(claims) });
  view("accounts");
  accounts.load();
  byId("accounts-title").focus();
  return "";
}

// offer asks before signing in with a token from the address, and never replaces a session.
function offer(token) {
  if (!token) return;
  const claims = claimsOf(token);
  const wrong = problemWith(claims) ||
    session.token && "You are signed in already. To use the link, sign out and open it again.";
  if (wrong) return say(message, wrong, "error");
  confirmSignIn(nameOf(claims), organizationOf(claims), () => session.token || takeGiven(token));
}

function leave(why = "You are signed out.") {
  session.clear();
  accounts.clear();
  usage.clear();
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  say(message, why);
  byId("sign-in-title").focus();
}

// show shows who is signed in.
function show() {
  const inside = session.token !== "";
  byId("signed-in").hidden = !inside;
  byId("signed-out").hidden = inside;
  byId("pasted").value = "";
  showWho();
  clearInterval(timer);
  if (inside) timer = setInterval(showExpiry, 1000);
  showExpiry();
}

// lasting returns seconds in words, rounded so that the text rarely changes.
function lasting(seconds) {
  if (seconds >= 7200) return Math.floor(seconds / 3600) + " hours";
  if (seconds >= 120) return Math.floor(seconds / 60) + " minutes";
  return seconds >= 60 ? "1 minute" : "less than a minute";
}

function showExpiry() {
  const inside = session.token !== "";
  const left = (session.expires - Date.now()) / 1000;
  if (inside && left <= 0) return leave("Your sign-in has expired. Sign in again.");
  write(byId("who-expiry"), inside ? "expires in " + lasting(left) : "");
  write(byId("expiry-warning"), inside && left < warnBefore
    ? `Your sign-in ends in ${lasting(left)}. Finish what you do, sign out, and sign in again.` : "");
}

// write changes a text only if it differs, because screen readers read out each change.
function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function takeGiven(token) {
  const wrong = enter(token);
  if (wrong) say(message, wrong, "error");
}

on("show-accounts", "click", () => view("accounts"));
on("show-usage", "click", () => page.usage(null));
on("paste", "submit", (event) => {
  event.preventDefault();
  const field = byId("pasted");
  const wrong = enter(field.value.trim());
  byId("pasted-error").textContent = wrong;
  field.setAttribute("aria-invalid", wrong !== "");
  if (wrong) field.focus();
});
on("sign-in", "click", () => {
  try {
    login.start();
    say(message, "Sign in in the window that has opened.", "busy");
  } catch (error) {
    say(message, error.message, "error");
  }
});
window.addEventListener("hashchange", () => offer(takeTokenFromAddress()));

// Remove the token from the address before anything else.
const given = takeTokenFromAddress();
const read = (name, otherwise) =>
  fetch(name, { credentials: "omit" }).then((answer) => answer.json()).catch(() => otherwise);
[settings, { offered: page.scopes }] = await Promise.all([
  read("sign-in.json", settings), read("scopes.json", { offered: [] }),
]);
byId("mint-hint").hidden = !settings.local;
if (settings.login) {
  login = new Login(settings, takeGiven, (error) => say(message, error.message, "error"));
  byId("provider").textContent = new URL(settings.login.authorize_url).host;
  byId("login").hidden = false;
  login.prepare();
}
showHeader(leave);
// "Open the map" needs one.
exists("../playground/").then((yes) => document.body.classList.toggle("has-map", yes));
if (session.restore()) accounts.load();
else show();
offer(given);
