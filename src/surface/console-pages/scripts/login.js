// Signs in by a passkey, or by a link whose token only this script sees.

import { askDevice, call, goBy, goToRequestedPage, onPress, showStep, takeToken } from './page.js'

const token = takeToken()
showStep(token ? 'link' : 'passkey', { first: true })

onPress('sign-in', async () => {
  const { challengeId, options } = await call('POST', 'console/sign-in/options', { body: {} })
  const assertion = await askDevice('startAuthentication', options)
  await call('POST', 'console/sign-in', { body: { challengeId, assertion } })
  goToRequestedPage()
})

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
