import {
  askDevice,
  call,
  goToRequestedPage,
  onPress,
  onSubmit,
  showStep,
  takeToken,
  tell,
  words,
} from './page.js'

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

/** Begins enrolment. If the link was already used, an enrolled passkey confirms it. */
async function begin() {
  const options = body => call('POST', 'passkeys/register/options', { body })
  return options({}).catch(async error => {
    if (error.code !== 'assertion_required') throw error
    const { challengeId, options: asked } = await call('POST', 'passkeys/challenge', {
      body: { purpose: 'enrolment' },
    })
    const assertion = await askDevice('startAuthentication', asked)
    return options({ webauthnAssertion: { challengeId, assertion } })
  })
}

onSubmit('enrol', async form => {
  const { challengeId, options } = await begin()
  const registration = await askDevice('startRegistration', options)
  const name = form.get('name')
  await call('POST', 'passkeys/register/verify', { body: { challengeId, name, registration } })
  tell(words.enrolled)
  goToRequestedPage()
})
