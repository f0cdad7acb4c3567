// Signs by passkey: requests a challenge, shows the sentence, and passes the signature to the call.

import { element, show } from './dialogs.js'
import { askDevice, Refused, words } from './page.js'
import { callSignedIn } from './sign-in.js'

function showSentence(sentence, hasChanged, step) {
  const title = step && step.of > 1 ? `${words.youSign} (${step.number}/${step.of})` : words.youSign
  const content = [
    ...(hasChanged ? [element('p', { role: 'alert' }, words.readAgain)] : []),
    element('blockquote', { lang: 'en' }, sentence),
  ]
  return show(title, content, [
    ['yes', words.sign, 'main'],
    ['no', step ? words.skip : words.cancel],
    ...(step ? [['stop', words.stop]] : []),
  ])
}

async function signatureFor({ path, body }, earlier, step) {
  const { challengeId, options, sentence } = await callSignedIn('POST', path, { body })
  if (options.allowCredentials.length === 0) throw new Refused('no_passkey', words.noPasskey)
  const chosen = await showSentence(sentence, earlier !== undefined && earlier !== sentence, step)
  if (chosen !== 'yes') return { end: chosen }
  const assertion = await askDevice('startAuthentication', options)
  return { sentence, signed: { challengeId, assertion } }
}

/** Makes the call with a signature. If the sentence has changed, the person reads it again first. */
export async function withPasskey(challenge, send, step) {
  if (challenge.isAskedLate) {
    const answer = await send().catch(error => {
      if (error.code !== 'assertion_required') throw error
    })
    if (answer) return answer
  }
  let earlier
  for (;;) {
    const { end, signed, sentence } = await signatureFor(challenge, earlier, step)
    if (end) return end
    const answer = await send(signed).catch(error => {
      if (error.code !== 'statement_outdated') throw error
    })
    if (answer) return answer
    earlier = sentence
  }
}
