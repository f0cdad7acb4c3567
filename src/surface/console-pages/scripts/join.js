// Redeems the link of somebody who joins or comes back, and makes a passkey.

import { askDevice, call, goOn, onPress, onSubmit, showStep, takeToken, tell, words } from './page.js'

const token = takeToken()

async function isSignedIn() {
  return call('GET', 'console/session', { background: true }).then(
    () => true,
    () => false,
  )
}

showStep(token ? 'link' : (await isSignedIn()) ? 'passkey' : 'nothing', { first: true })

onPress('redeem', async () => {
  await call('POST', 'console/links/redeem', { body: { token } })
  showStep('passkey')
  tell(words.joined)
})

onSubmit('enrol', async form => {
  const { challengeId, options } = await call('POST', 'passkeys/register/options', { body: {} })
  const credential = await askDevice('startRegistration', options)
  await call('POST', 'passkeys/register/verify', {
    body: { challengeId, credential, name: form.get('name') },
  })
  tell(words.enrolled)
  goOn()
})
