import type { Actor } from '../kernel/contract/actor.ts'
import { type Areas, publishedOperations } from '../kernel/contract/area.ts'
import type { RegisteredOperation } from '../kernel/contract/operation.ts'
import { Problem } from '../kernel/contract/problem.ts'
import { allScopeNames, roleScopes, tokenScopes } from '../kernel/contract/scopes.ts'
import { dashboardActor, publicActor, requireAuthorized } from './http/authenticate.ts'

const known = { ...publicActor, id: 'someone' }

const callers: Readonly<Record<string, Actor>> = {
  Key: { ...known, type: 'key', scopes: new Set(allScopeNames) },
  Agent: { ...known, type: 'agent', scopes: new Set(tokenScopes.possible) },
  Owner: { ...known, type: 'console', scopes: roleScopes.owner },
  Approver: { ...known, type: 'console', scopes: roleScopes.approver },
  Viewer: { ...known, type: 'console', scopes: roleScopes.viewer },
  Dashboard: dashboardActor,
}

const HEAD = `# Who may call what

\`npm run openapi\` writes this page from the contracts, so that a change of rights is a line that a reviewer sees. A caller needs the
scope of the operation, too: “yes” means that one of this kind can have it. Owner, approver and viewer are people in the console.
`

export function accessMatrix(areas: Areas): string {
  const names = [...Object.keys(callers), 'Anyone']
  const title = ['Operation', 'Scope', ...names, 'Modes']
  const lines = publishedOperations(areas).map(registered => [
    registered.key,
    registered.operation.scope ?? '',
    ...names.map(name => (mayCall(registered, callers[name]) ? 'yes' : '')),
    'test_mode_only' in (registered.operation.fails ?? {}) ? 'test' : 'test, live',
  ])
  const rows = [title, title.map(() => '---'), ...lines]
  return `${HEAD}\n${rows.map(cells => `| ${cells.join(' | ')} |`).join('\n')}\n`
}

function mayCall({ operation: { callers, scope } }: RegisteredOperation, actor: Actor | undefined): boolean {
  if (!actor || callers.includes('public')) return !actor && callers.includes('public')
  try {
    return requireAuthorized(actor, callers, scope) === actor
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}
