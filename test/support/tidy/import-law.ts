import { dirname } from 'node:path'
import type { Import } from './sources.ts'

/**
 * The business folders and their nouns, left to right in the order of dependency. An unnamed noun is to the
 * right of the named ones of its folder: it may use them, and they may not use it.
 */
const business: Readonly<Record<string, string>> = {
  identity: 'customers approvals passkeys people console keys signing-keys sessions cli-auth onboarding kyc',
  money:
    'ledger wallets references beneficiaries transactions refunds payment-methods incoming fundings billing statements',
  control:
    'agents merchants rules budgets decisions agent-tokens runs delegations policies mandates risk card-terms intents payments',
  cards: 'cards filler-keys access-events credentials agent-credentials card-requests authorizations',
  commerce:
    'transfers rails checkout mpp-keys mpp payment-requests refunds collect receipts evidence disputes',
  insight: 'spend reports outcomes merchants analytics forecast',
  compliance: 'audit gdpr security-incidents merchant-applications',
  delivery: 'events webhooks push channels',
  surface: 'health well-known proposals mcp canvas sandbox pages console-pages console',
}

const nouns = Object.entries(business).flatMap(([folder, list]) =>
  list.split(' ').map(noun => `${folder}/${noun}`),
)

function positionOf(noun: string): number {
  const position = nouns.indexOf(noun)
  if (position >= 0) return position
  const lastOfFolder = nouns.findLastIndex(other => dirname(other) === dirname(noun))
  return lastOfFolder + 0.5
}

/** The folders below the business, left to right: each may import those before it. */
const foundation = [
  'values',
  'ports',
  'iso20022',
  'mpp',
  'statements',
  'trail',
  'kernel/contract',
  'kernel/database',
  'kernel/journal',
  'kernel/run',
  'kernel/background',
]

const kernel = foundation.filter(zone => zone.startsWith('kernel/'))

/** What each other folder may import besides itself. */
const others: Readonly<Record<string, readonly string[]>> = {
  web: ['values', 'kernel/contract'],
  adapters: ['values', 'ports', 'iso20022', 'mpp'],
  migrations: [],
  platform: ['values', 'ports', ...kernel, 'migrations'],
  derive: ['values', 'ports', 'statements', 'trail', ...kernel, 'web'],
  dev: ['values', ...kernel, 'platform', 'derive'],
  command: ['values', 'derive'],
  packages: ['values', 'kernel/contract', 'derive'],
  app: [
    ...foundation,
    'web',
    'adapters',
    'migrations',
    'platform',
    'derive',
    'areas.ts',
    ...Object.keys(business),
  ],
}

/** The place of a file: `src/control/agents/api.ts` is the `api.ts` of the noun `control/agents`. */
function placeOf(path: string) {
  const [top = '', folder = '', name = '', ...deeper] = path.split('/')
  const isRoom = top === 'src' && folder === 'kernel'
  const zone = top !== 'src' ? top : isRoom ? `kernel/${name}` : folder
  const noun = zone in business && deeper.length > 0 ? `${zone}/${name}` : undefined
  const isShared = path.startsWith('workflows/shared/')
  return { zone, noun, isShared, file: path.split('/').at(-1) ?? '' }
}

type Place = ReturnType<typeof placeOf>

/** Why a file may not be in its place; undefined if it may. */
export function whyMisplaced(path: string): string | undefined {
  const { zone, noun } = placeOf(path)
  if (zone in business)
    return noun ? undefined : `belongs to no noun: move it into src/${zone}/<noun>/, or into src/values`
  // One system with several products, each of them a room.
  const depth = path.startsWith('src/adapters/stripe/') ? 5 : 4
  if (path.startsWith('src/') && path.split('/').length > depth) return 'lies deeper than src/folder/room'
  const zones = [...foundation, ...Object.keys(others), 'bin', 'areas.ts', 'workflows', 'activities', 'test']
  return zones.includes(zone)
    ? undefined
    : `lies in the folder ${zone}, which has no place in the order: move it, or name the folder in test/support/tidy/import-law.ts`
}

/** Why this file may not import that one; undefined if it may. */
export function whyForbidden(path: string, { of, typeOnly }: Import): string | undefined {
  const from = placeOf(path)
  if (from.zone === 'test') return undefined
  if (/^temporal-config\//.test(of)) return undefined
  if (!/^(src|workflows|activities|test)\//.test(of)) return ofPackage(from, of)
  const to = placeOf(of)
  if (to.zone === 'test') return 'nothing needs the tests'
  if (from.zone === 'workflows') return ofWorkflow(from, to, typeOnly)
  if (from.zone === 'bin') return undefined
  if (to.zone === 'bin') return 'a program is started, not imported'
  if (from.zone === 'activities') return ofActivity(from, to)
  if (['workflows', 'activities'].includes(to.zone))
    return from.zone === 'app' ? undefined : 'workflows and activities are put together in src/app'
  if (from.zone === 'areas.ts') return to.noun ? undefined : 'the list of areas names areas only'
  if (from.noun) return ofNoun(from, to)
  if (from.zone === to.zone) return undefined
  return others[from.zone]?.includes(to.zone) || isLeftOf(from, to)
    ? undefined
    : `${from.zone} must not import ${to.zone}: see the order in test/support/tidy/import-law.ts`
}

const isLeftOf = (from: Place, to: Place): boolean =>
  foundation.includes(to.zone) && foundation.indexOf(to.zone) < foundation.indexOf(from.zone)

/** The files of a noun that other nouns may import: its index, and those that load no area. */
const IMPORTABLE = ['index.ts', 'process.ts', 'thread.ts']

function ofNoun(from: Place, to: Place): string | undefined {
  if (!to.noun)
    return [...foundation, 'web'].includes(to.zone) ? undefined : `an area must not import ${to.zone}`
  if (from.noun === to.noun) return withinNoun(from, to)
  if (positionOf(from.noun ?? '') <= positionOf(to.noun))
    return `${from.noun} does not lie right of ${to.noun} and must not import it: let that one react to an event, or give both their place in test/support/tidy/import-law.ts`
  return IMPORTABLE.includes(to.file)
    ? undefined
    : `import from ${to.noun}/index.ts: it says what others may use`
}

function withinNoun(from: Place, to: Place): string | undefined {
  if (to.file === 'index.ts') return 'the index is for other nouns'
  return from.file === 'api.ts' && isPlural(to) ? 'the contract must not import its handlers' : undefined
}

const isPlural = ({ noun, file }: Place): boolean => file === `${noun?.split('/')[1]}.ts`

function ofWorkflow(from: Place, to: Place, typeOnly: boolean): string | undefined {
  if (to.file === 'process.ts' || to.file === 'story.ts') return undefined
  if (to.zone === 'workflows')
    return to.isShared || (from.file === 'index.ts' && !from.isShared)
      ? undefined
      : 'a workflow imports no other'
  return (to.zone === 'activities' || to.file === 'step.ts') && typeOnly
    ? undefined
    : 'a workflow imports processes, a story that requests tell as well, and types of activities'
}

/** The law for activities: they put together what nouns offer. Systems and the database come as tools. */
function ofActivity(from: Place, to: Place): string | undefined {
  if (from.zone === to.zone || to.file === 'process.ts') return undefined
  if (to.noun)
    return to.file === 'index.ts' ? undefined : `import from ${to.noun}/index.ts: it says what others may use`
  const mayImport = [...foundation, 'derive']
  return mayImport.includes(to.zone)
    ? undefined
    : 'an activity imports nouns and the kernel, and gets everything else as its tools'
}

const OF_ACTIVITIES = ['@temporalio/activity', '@temporalio/common', '@temporalio/worker', 'zod']

function ofPackage({ zone, noun, file }: Place, name: string): string | undefined {
  if (zone === 'activities' && !OF_ACTIVITIES.includes(name))
    return 'an activity reaches out by its tools only'
  if (zone === 'workflows' && name !== '@temporalio/workflow') return 'a workflow has no other package'
  if (zone === 'command' && !name.startsWith('node:')) return 'the command starts in an instant: no package'
  if (noun && file === 'api.ts' && name !== 'zod') return 'a contract is plain data'
  return undefined
}

/** The first cycle found, or an empty list. */
export function circleIn(needs: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const circleFrom = (path: string, trail: readonly string[]): string[] => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (done.has(path)) return []
    for (const next of needs.get(path) ?? []) {
      const circle = circleFrom(next, [...trail, path])
      if (circle.length > 0) return circle
    }
    done.add(path)
    return []
  }
  for (const path of needs.keys()) {
    const circle = circleFrom(path, [])
    if (circle.length > 0) return circle
  }
  return []
}
