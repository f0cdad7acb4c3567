// Signs in by passkey on the same page once the session has ended, so that no input is lost.

import { element, show } from './dialogs.js'
import { askDevice, call, dataset, loadCeremonies, part, Refused, root, words } from './page.js'
import { follow, resume } from './stream.js'

let underWay

export let signIns = 0

/** Signs in once for all callers. Resolves when a person is signed in. */
export function signInAgain() {
  underWay ??= ask().finally(() => {
    underWay = undefined
  })
  return underWay
}

const buttons = [
  ['yes', words.signIn, 'main'],
  ['leave', words.leave],
]

async function ask() {
  void loadCeremonies().catch(() => undefined)
  let trouble = ''
  for (;;) {
    const content = [
      element('p', {}, words.signInHere),
      element('p', { role: 'alert', 'data-sign-in': '' }, trouble),
    ]
    const chosen = await show(words.sessionEnded, content, buttons)
    if (chosen === 'elsewhere') return
    if (chosen === 'leave') location.assign(`${root}login`)
    if (chosen !== 'yes') continue
    const error = await signIn().catch(reason => reason)
    if (!error) return
    trouble = error.message
  }
}

async function signIn() {
  const { challengeId, options } = await call('POST', 'console/sign-in/options', { body: {} })
  const assertion = await askDevice('startAuthentication', options)
  const { personId } = await call('POST', 'console/sign-in', { body: { challengeId, assertion } })
  resume(personId)
}

// Never sends one person's input as another person.
follow(({ personId }) => {
  if (!personId) return
  signIns++
  if (dataset.person && personId !== dataset.person) location.reload()
  part('[data-sign-in]')?.closest('dialog').close('elsewhere')
})

/**
 * Calls an operation; after the session has ended, asks for the passkey and calls it again, unless the person has
 * already signed in while the request was in progress.
 * @type {typeof call}
 */
export async function callSignedIn(...request) {
  const before = signIns
  try {
    return await call(...request)
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== 'unauthenticated') throw error
    if (signIns === before) await signInAgain()
    return call(...request)
  }
}
