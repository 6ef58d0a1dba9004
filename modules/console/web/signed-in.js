// Where the provider sends the window of the sign-in back to: it hands the answer to the console and closes. The answer
// is worth nothing without the code verifier, which the console alone has.
const answer = Object.fromEntries(new URLSearchParams(location.search));
history.replaceState(null, "", location.pathname);
const channel = new BroadcastChannel("caddy-maps-sign-in");
channel.onmessage = ({ data }) => {
  if (data.taken === answer.state) window.close();
};
channel.postMessage(answer);
