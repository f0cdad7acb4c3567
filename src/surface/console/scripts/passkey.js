// Signs by passkey: requests a challenge, shows the sentence, and passes the signature to the call.

import { element, show } from './dialogs.js'
import { askDevice, Refused, words } from './page.js'
import { callSignedIn } from './sign-in.js'

export async function openStatement({ path, body }) {
  const opened = await callSignedIn('POST', path, { body })
  if (opened.options.allowCredentials.length === 0) throw new Refused('no_passkey', words.noPasskey)
  return opened
}

function showSentence(sentence, hasChanged) {
  const content = [
    ...(hasChanged ? [element('p', { role: 'alert' }, words.readAgain)] : []),
    element('blockquote', { lang: 'en' }, sentence),
  ]
  return show(words.youSign, content, [
    ['yes', words.sign, 'main'],
    ['no', words.cancel],
  ])
}

/**
 * Shows several statements in one dialog, each with a box to leave it out. Each is signed by itself afterwards,
 * as its proof must not show the others. Returns the chosen ones.
 */
export async function chooseStatements(statements) {
  const boxes = statements.map(() => element('input', { type: 'checkbox', checked: '' }))
  const lines = statements.map(({ sentence }, n) =>
    element('label', { class: 'check' }, boxes[n], element('blockquote', { lang: 'en' }, sentence)),
  )
  const chosen = await show(`${words.youSignEach} (${statements.length})`, lines, [
    ['yes', words.signEach, 'main'],
    ['no', words.cancel],
  ])
  return chosen === 'yes' ? statements.filter((_, n) => boxes[n].checked) : []
}

async function sign({ challengeId, options, sentence }) {
  return { sentence, signed: { challengeId, assertion: await askDevice('startAuthentication', options) } }
}

async function signatureFor(challenge, earlier) {
  const opened = await openStatement(challenge)
  const { sentence } = opened
  const chosen = await showSentence(sentence, earlier !== undefined && earlier !== sentence)
  return chosen === 'yes' ? sign(opened) : { end: chosen }
}

/**
 * Makes the call with a signature. `read` is an open statement that the person has read. If the sentence has
 * changed, the person reads it again first.
 */
export async function withPasskey(challenge, send, read) {
  if (challenge.isAskedLate) {
    const answer = await send().catch(error => {
      if (error.code !== 'assertion_required') throw error
    })
    if (answer) return answer
  }
  let earlier
  for (;;) {
    const signing = read && earlier === undefined ? sign(read) : signatureFor(challenge, earlier)
    const { end, signed, sentence } = await signing
    if (end) return end
    const answer = await send(signed).catch(error => {
      if (error.code !== 'statement_outdated') throw error
    })
    if (answer) return answer
    earlier = sentence
  }
}
