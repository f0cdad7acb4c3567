import {
  askDevice,
  call,
  complain,
  goBy,
  here,
  onPress,
  onSubmit,
  part,
  Refused,
  words,
  writeSentence,
} from './page.js'

const DAY_MS = 86_400_000
/** A challenge is valid for five minutes. One that is about to expire is not used. */
const FRESH_MS = 4 * 60_000

const page = part('#authorize')
const form = part('form.choices')
const signature = part('[data-signature]')

let mandate
let challenge

const chosen = name => String(new FormData(form).get(name))

const expiresAt = () => new Date(Date.parse(page.dataset.now) + Number(chosen('days')) * DAY_MS).toISOString()

/** A new agent is created with the connection, as the person has signed it. */
const grant = () => ({
  agentId: chosen('agentId') || null,
  name: form.dataset.name,
  expiresAt: expiresAt(),
})

const request = members => ({ ticket: page.dataset.ticket, scopes: [chosen('tools')], ...members })

async function openChallenge() {
  const opened = await call('POST', 'oauth/options', { body: request(mandate) })
  challenge = { ...opened, openedAt: performance.now() }
  writeSentence(part('[data-sentence]'), opened.sentence)
  const hasPasskey = opened.options.allowCredentials.length > 0
  part('[data-no-passkey]').hidden = hasPasskey
  part('[data-no-passkey] a').href = `../join?to=${encodeURIComponent(here())}`
  part('[data-action="sign"]').hidden = !hasPasskey
}

async function connect(members) {
  const { redirectTo } = await call('POST', 'oauth/approve', { body: request(members) })
  location.assign(redirectTo)
}

/** A session that has ended leads to the sign-in and back. */
function afterRefusal(error) {
  if (error instanceof Refused && error.code === 'unauthenticated') return goBy('login', here())
  challenge = undefined
  throw error
}

async function review() {
  const constraints = {
    perTransactionEuros: Number(chosen('perPayment')),
    perMonthEuros: Number(chosen('perMonth')),
  }
  mandate = { ...grant(), constraints }
  await openChallenge()
  form.hidden = true
  signature.hidden = false
  complain('')
  part('[data-sentence]').scrollIntoView({ block: 'nearest' })
}

async function sign() {
  if (!challenge || performance.now() - challenge.openedAt > FRESH_MS) {
    await openChallenge()
    return complain(words.readAgain)
  }
  const { challengeId, options } = challenge
  const assertion = await askDevice('startAuthentication', options)
  await connect({ ...mandate, webauthnAssertion: { challengeId, assertion } })
}

function showHints() {
  const isNew = !chosen('agentId')
  for (const hint of form.querySelectorAll('[data-hint]'))
    hint.hidden = (hint.dataset.hint === 'new') !== isNew
  const reads = chosen('tools') === 'reader'
  for (const field of form.querySelectorAll('[data-budget]')) field.hidden = reads
}

if (form) {
  onSubmit('review', () => review().catch(afterRefusal))
  onPress('sign', () => sign().catch(afterRefusal))
  onPress('plain', () => connect(grant()).catch(afterRefusal))
  onPress('back', async () => {
    signature.hidden = true
    form.hidden = false
    complain('')
  })
  form.addEventListener('change', showHints)
  showHints()
  form.hidden = false
}
