// Brings the answer of an identity provider to the service. The page that the person wanted is kept in this tab.

import { call, complain, goBy, goToRequestedPage, showStep } from './page.js'

const answer = new URLSearchParams(location.search)
const to = sessionStorage.getItem('sso-to')
sessionStorage.removeItem('sso-to')
// Also removes the code from the address and the history.
history.replaceState(null, '', location.pathname + (to === null ? '' : `?to=${encodeURIComponent(to)}`))

const provider = location.pathname.split('/').at(-2)
const [state, code, iss] = ['state', 'code', 'iss'].map(name => answer.get(name))

async function signIn() {
  const body = { state, code, ...(iss !== null && { iss }) }
  const { kind } = await call('POST', `sso/${provider}/sign-in`, { body })
  localStorage.setItem('sso', provider)
  if (kind === 'join') goBy('join')
  else goToRequestedPage()
}

if (state !== null && code !== null) {
  showStep('wait', { first: true })
  signIn().catch(error => {
    showStep('refused')
    complain(error.message)
  })
} else showStep('refused', { first: true })
