// Signs in: by a passkey, or by a link whose token only this script sees.

import { askDevice, call, goBy, goOn, onPress, showStep, takeToken } from './page.js'

const token = takeToken()
showStep(token ? 'link' : 'passkey', { first: true })

onPress('sign-in', async () => {
  const { challengeId, options } = await call('POST', 'console/sign-in/options', { body: {} })
  const assertion = await askDevice('startAuthentication', options)
  await call('POST', 'console/sign-in', { body: { challengeId, assertion } })
  goOn()
})

onPress('redeem', async () => {
  const { kind } = await call('POST', 'console/links/redeem', { body: { token } })
  if (kind === 'sign_in') goOn()
  else goBy('join')
})
