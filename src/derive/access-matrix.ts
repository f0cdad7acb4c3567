import type { Actor } from '../kernel/contract/actor.ts'
import { type Areas, published } from '../kernel/contract/area.ts'
import type { Registered } from '../kernel/contract/operation.ts'
import { Problem } from '../kernel/contract/problem.ts'
import { roleScopes, scopes, tokenScopes } from '../kernel/contract/scopes.ts'
import { admit, anyone, dashboard } from './http/authenticate.ts'

const known = { ...anyone, id: 'someone' }

const callers: Readonly<Record<string, Actor>> = {
  Key: { ...known, type: 'key', scopes: new Set(scopes) },
  Agent: { ...known, type: 'agent', scopes: new Set(tokenScopes.possible) },
  Owner: { ...known, type: 'console', scopes: roleScopes.owner },
  Approver: { ...known, type: 'console', scopes: roleScopes.approver },
  Viewer: { ...known, type: 'console', scopes: roleScopes.viewer },
  Merchant: { ...known, type: 'merchant' },
  Dashboard: dashboard,
}

const HEAD = `# Who may call what

\`npm run openapi\` writes this page from the contracts, so that a change of rights is a line that a reviewer sees. A caller needs the
scope of the operation, too: “yes” means that one of this kind can have it. Owner, approver and viewer are people in the console.
`

export function accessMatrix(areas: Areas): string {
  const names = [...Object.keys(callers), 'Anyone']
  const title = ['Operation', 'Scope', ...names, 'Modes']
  const lines = published(areas).map(registered => [
    registered.key,
    registered.operation.scope ?? '',
    ...names.map(name => (mayCall(registered, callers[name]) ? 'yes' : '')),
    'test_mode_only' in (registered.operation.fails ?? {}) ? 'test' : 'test, live',
  ])
  const rows = [title, title.map(() => '---'), ...lines]
  return `${HEAD}\n${rows.map(cells => `| ${cells.join(' | ')} |`).join('\n')}\n`
}

function mayCall({ operation: { callers, scope } }: Registered, actor: Actor | undefined): boolean {
  if (!actor || callers.includes('public')) return !actor && callers.includes('public')
  try {
    return admit(actor, callers, scope) === actor
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}
