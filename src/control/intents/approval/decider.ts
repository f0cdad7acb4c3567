import type { Actor } from '../../../kernel/contract/actor.ts'
import type { DecidedBy } from '../intent.ts'

/** The person who has signed with a passkey. */
interface Signer {
  readonly id: string
  readonly name: string
}

type PersonalDecision = DecidedBy & { type: 'key' | 'console' | 'operator' }

/**
 * The one who decides: a person who has signed, whoever brings the signature; else a person in the console, or a key. An
 * operator has no id of ours, only the name that came with the signal, which nothing proves.
 */
export function deciderOf(
  { type, id, name }: Pick<Actor, 'type' | 'id' | 'name'>,
  signer?: Signer,
): PersonalDecision {
  if (signer) return { type: 'console', id: signer.id, name: signer.name }
  if (type === 'operator') return { type, id: null, name: id }
  return type === 'console' ? { type, id, name: name ?? null } : { type: 'key', id, name: null }
}
