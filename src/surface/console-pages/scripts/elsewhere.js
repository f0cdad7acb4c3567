// Takes the token of a link along to the address to which passkeys belong.

const { hash } = location
for (const link of document.querySelectorAll('[data-elsewhere]')) link.hash = hash
if (hash) history.replaceState(null, '', location.pathname + location.search)
