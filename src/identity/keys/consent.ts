import { webauthnAssertion } from '../passkeys/index.ts'

/** A session that somebody has taken over makes nothing that outlasts it. */
export const consent = webauthnAssertion.optional().meta({
  description:
    'In the console, over exactly this key: `POST /passkeys/challenge`, purpose `key`. A key needs none.',
})

/** What a person in the console signs: this key. */
export const signedKey = (subject: Readonly<Record<string, string>>) => ({
  challenge: '/passkeys/challenge',
  asks: { purpose: 'key', subject },
})
