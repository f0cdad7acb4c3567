// Signs in by a passkey, by an identity provider, or by a link whose token only this script sees.

import { askDevice, call, goBy, goToRequestedPage, onPress, part, showStep, takeToken } from './page.js'

const token = takeToken()
showStep(token ? 'link' : 'passkey', { first: true })

onPress('sign-in', async () => {
  const { challengeId, options } = await call('POST', 'console/sign-in/options', { body: {} })
  const assertion = await askDevice('startAuthentication', options)
  await call('POST', 'console/sign-in', { body: { challengeId, assertion } })
  goToRequestedPage()
})

const query = new URLSearchParams(location.search)
const provider = part('[data-action="sso"]')?.dataset.provider

onPress('sso', async () => {
  const { redirectTo } = await call('POST', `sso/${provider}/start`, { body: {} })
  const to = query.get('to')
  if (to === null) sessionStorage.removeItem('sso-to')
  else sessionStorage.setItem('sso-to', URL.parse(to, location.href)?.href ?? '')
  location.assign(redirectTo)
})

/** A browser that has signed in with an identity provider is offered it again. */
function offerProvider() {
  const known = localStorage.getItem('sso')
  if (query.has('sso') && !provider) localStorage.removeItem('sso')
  if (known === null || token || query.has('sso')) return
  query.set('sso', known)
  location.replace(`${location.pathname}?${query}`)
}
offerProvider()

/** After these refusals of the link, the page shows the other ways to sign in. */
const ENDED = new Set(['link_used', 'link_expired', 'link_unknown'])

onPress('redeem', async () => {
  const { kind } = await call('POST', 'console/links/redeem', { body: { token } }).catch(error => {
    if (ENDED.has(error.code)) showStep('passkey')
    throw error
  })
  if (kind === 'sign_in') goToRequestedPage()
  else goBy('join')
})
