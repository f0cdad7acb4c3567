// Signs by passkey: requests a challenge, shows the sentence, and passes the signature to the call.

import { element, show } from './dialogs.js'
import { askDevice, Refused, words, writeSentence } from './page.js'
import { callSignedIn } from './sign-in.js'

export async function openStatement({ path, body }) {
  const opened = await callSignedIn('POST', path, { body })
  if (opened.options.allowCredentials.length === 0) throw new Refused('no_passkey', words.noPasskey)
  return opened
}

export function signedText(sentence) {
  const text = element('blockquote', { lang: 'en' })
  writeSentence(text, sentence)
  return text
}

function showSentence(sentence, hasChanged) {
  const content = [
    ...(hasChanged ? [element('p', { role: 'alert' }, words.readAgain)] : []),
    signedText(sentence),
  ]
  return show(words.youSign, content, [
    ['yes', words.sign, 'main'],
    ['no', words.cancel],
  ])
}

const sign = async ({ challengeId, options }) => ({
  challengeId,
  assertion: await askDevice('startAuthentication', options),
})

/**
 * The answer, where the call needs no signature, or the statement to sign: the operation's own, or the one that its
 * refusal names because the change lets more be spent.
 */
async function begin(challenge, send) {
  if (challenge && !challenge.isAskedLate) return { opened: await openStatement(challenge) }
  try {
    return { answer: await send() }
  } catch (error) {
    const { code, challengePath } = error
    if (code !== 'assertion_required' || !(challengePath || challenge)) throw error
    return { opened: await (challengePath ? callSignedIn('GET', challengePath) : openStatement(challenge)) }
  }
}

/**
 * Makes the call, with a signature where it needs one. `read` is an open statement that the person has read. If the
 * sentence has changed, the person reads it again first.
 */
export async function withPasskey(challenge, send, read) {
  let earlier
  for (;;) {
    const isRead = read !== undefined && earlier === undefined
    const { answer, opened } = isRead ? { opened: read } : await begin(challenge, send)
    if (answer) return answer
    const hasChanged = earlier !== undefined && earlier !== opened.sentence
    const chosen = isRead ? 'yes' : await showSentence(opened.sentence, hasChanged)
    if (chosen !== 'yes') return chosen
    const done = await send(await sign(opened)).catch(error => {
      if (error.code !== 'statement_outdated') throw error
    })
    if (done) return done
    earlier = opened.sentence
  }
}
