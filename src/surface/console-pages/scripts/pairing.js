import {
  askDevice,
  call,
  complain,
  goBy,
  here,
  onPress,
  pageIn,
  part,
  Refused,
  tell,
  words,
  writeSentence,
} from './page.js'

/** A challenge is valid for five minutes. One that is about to expire is not used. */
const FRESH_MS = 4 * 60_000

const { code, state } = part('#pairing').dataset

let challenge

async function openChallenge() {
  challenge = undefined
  const opened = await call('POST', 'cli/auth/challenge', { body: { code }, background: true })
  challenge = { ...opened, openedAt: performance.now() }
  const sentence = part('[data-sentence]')
  part('[data-no-passkey]').hidden = opened.options.allowCredentials.length > 0
  const isOther = sentence.textContent !== '' && sentence.textContent !== opened.sentence
  writeSentence(sentence, opened.sentence)
  return isOther
}

async function refresh() {
  const response = await fetch(location.href, { headers: { 'X-Background': 'true' } })
  const page = await pageIn(response)
  /** @type {HTMLElement | null | undefined} */
  const now = page?.querySelector('#pairing')
  if (!response.ok || !now || now.dataset.state === 'pending') return
  part('#pairing').replaceWith(now)
  document.title = page.title
  part('#heading').focus()
}

/** A refusal either changes the sentence to sign, ends the decision, or requires a sign-in. */
async function afterRefusal(error) {
  if (!(error instanceof Refused)) throw error
  if (error.code === 'unauthenticated') return goBy('login', here())
  if (error.code === 'statement_outdated' && (await openChallenge())) return complain(words.readAgain)
  if (['challenge_used', 'challenge_expired', 'assertion_invalid'].includes(error.code)) challenge = undefined
  if (['pairing_decided', 'pairing_expired', 'pairing_not_found'].includes(error.code)) await refresh()
  throw error
}

async function approve() {
  if (!challenge || performance.now() - challenge.openedAt > FRESH_MS)
    if (await openChallenge()) return complain(words.readAgain)
  const { challengeId, options } = challenge
  if (options.allowCredentials.length === 0) throw new Refused('no_passkey', words.noPasskeyHere)
  const assertion = await askDevice('startAuthentication', options)
  await call('POST', 'cli/auth/approve', { body: { code, webauthnAssertion: { challengeId, assertion } } })
  await refresh()
  tell(words.paired)
}

async function deny() {
  await call('POST', 'cli/auth/deny', { body: { code } })
  await refresh()
  tell(words.turnedAway)
}

onPress('approve', () => approve().catch(afterRefusal))
onPress('deny', () => deny().catch(afterRefusal))

if (state === 'pending') {
  part('[data-decision]').hidden = false
  await openChallenge().catch(error => complain(error.message))
}
