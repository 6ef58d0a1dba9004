// The provider sends the sign-in window here. It hands the answer, which is worthless without the code verifier, to the
// console and closes.
const answer = Object.fromEntries(new URLSearchParams(location.search));
history.replaceState(null, "", location.pathname);
const channel = new BroadcastChannel("caddy-maps-sign-in");
channel.onmessage = ({ data }) => {
  if (data.taken === answer.state) window.close();
};
channel.postMessage(answer);
