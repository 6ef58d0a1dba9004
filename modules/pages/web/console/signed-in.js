// The provider redirects the sign-in window here. This script passes the response, which is useless without the code
// verifier, to the console and closes the window.
const answer = Object.fromEntries(new URLSearchParams(location.search));
history.replaceState(null, "", location.pathname);
const channel = new BroadcastChannel("caddy-maps-sign-in");
channel.onmessage = ({ data }) => {
  if (data.taken === answer.state) window.close();
};
channel.postMessage(answer);
