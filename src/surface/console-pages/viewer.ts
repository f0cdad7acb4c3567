import type { Actor } from '../../kernel/contract/actor.ts'
import type { Viewer } from './layout.ts'

/** The person who looks: the scopes of a session are those of the role by now. */
export function viewerOf({ name, scopes }: Actor): Viewer {
  const role = scopes.has('people:write') ? 'owner' : scopes.has('intents:approve') ? 'approver' : 'viewer'
  return { name: name ?? '', role }
}

export const mayDecide = ({ scopes }: Actor): boolean => scopes.has('intents:approve')
