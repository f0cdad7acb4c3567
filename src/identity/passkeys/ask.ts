import type { Context } from '../../kernel/contract/context.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import type { Kind } from '../../statements/index.ts'
import type { passkeysApi } from './api.ts'
import { lockEnrollee } from './authority.ts'
import { type Opening, openChallenge } from './open-challenge.ts'
import { Passkey } from './passkey.ts'

type Asking = ContextOf<typeof passkeysApi.challenge>
type Body = Parameters<HandlerOf<typeof passkeysApi.challenge>>[0]['body']
type Subject = Body['subject']

/** What is to be signed for each purpose; a refusal where the subject does not fit. */
const openings: Readonly<
  Record<Body['purpose'], (subject: Subject, context: Asking) => Promise<Opening<Kind> | Refusal>>
> = {
  async revocation(subject, { records, refuse }) {
    if (typeof subject !== 'string') return refuse('subject_mismatch', 'subject: the id of a passkey.')
    const passkey = await records.findOne(Passkey, { id: subject, revokedAt: null })
    if (!passkey) return refuse('passkey_not_found')
    return { kind: 'revocation', subjectId: passkey.id, members: revocationOf(passkey) }
  },

  async enrolment(subject, context) {
    const { actor, refuse } = context
    const personId = subject ?? (actor.type === 'console' ? actor.id : undefined)
    if (typeof personId !== 'string') return refuse('subject_mismatch', 'subject: the id of a person.')
    const person = await lockEnrollee(context, personId)
    if (person?.status !== 'active') return refuse('person_not_found')
    return { kind: 'enrolment', subjectId: personId, members: { personId, name: person.name } }
  },

  async invitation(subject, context) {
    const { refuse } = context
    if (typeof subject !== 'object' || !('role' in subject || 'personId' in subject))
      return refuse(
        'subject_mismatch',
        'subject: {name, email, role}, {personId} for a new link, or {personId, role} for another role.',
      )
    if (!('personId' in subject)) return { kind: 'invitation', subjectId: null, members: subject }
    const { personId, role } = subject
    if (role === undefined) return { kind: 'invitation', subjectId: personId, members: { personId } }
    const person = await lockEnrollee(context, personId)
    if (!person || person.status === 'removed') return refuse('person_not_found')
    return { kind: 'invitation', subjectId: personId, members: { personId, name: person.name, role } }
  },

  async key(subject, context) {
    const { refuse } = context
    if (typeof subject !== 'object' || !('environment' in subject || 'keyId' in subject))
      return refuse(
        'subject_mismatch',
        'subject: {name, environment, scopes} of a new key, or {keyId} of the one to be replaced.',
      )
    if (!('keyId' in subject)) return { kind: 'key', subjectId: null, members: subject }
    const { keyId } = subject
    const name = await nameOfKey(keyId, context)
    return name === undefined
      ? refuse('key_not_found')
      : { kind: 'key', subjectId: keyId, members: { keyId, name } }
  },
}

const NAME_OF_KEY = 'select name from keys where owner_id = $1 and mode = $2 and id = $3'

async function nameOfKey(
  id: string,
  { sql, tenant: { ownerId, mode } }: Pick<Context, 'sql' | 'tenant'>,
): Promise<string | undefined> {
  const [key] = await sql<{ name: string } & Row>(NAME_OF_KEY, [ownerId, mode, id])
  return key?.name
}

/** What the revocation of a passkey says. */
export const revocationOf = ({ id: passkeyId, name }: Passkey) => ({ passkeyId, name })

export const challenge: HandlerOf<typeof passkeysApi.challenge> = async ({ body }, context) => {
  const opening = await openings[body.purpose](body.subject, context)
  return 'kind' in opening ? openChallenge(opening, context) : opening
}
