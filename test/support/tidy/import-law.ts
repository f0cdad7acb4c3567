import type { Import } from './sources.ts'

/** The folders of the business and the nouns in each, left to right in the order of what depends on what. */
const business: Readonly<Record<string, string>> = {
  identity: 'customers keys passkeys sessions cli-auth onboarding kyc',
  money: 'ledger wallets beneficiaries transactions billing statements',
  control: 'agents agent-tokens merchants runs delegations policies mandates risk intents',
  cards: 'cards card-controls card-requests credentials agent-credentials access-events',
  commerce: 'transfers rails checkout mpp collect refunds disputes receipts evidence',
  insight: 'outcomes analytics forecast',
  compliance: 'audit gdpr security-incidents merchant-applications',
  delivery: 'events webhooks push',
  surface: 'health well-known canvas sandbox pages',
}

const nouns = Object.entries(business).flatMap(([folder, list]) =>
  list.split(' ').map(noun => `${folder}/${noun}`),
)

/** What each of the other folders may import besides itself. */
const others: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  adapters: ['kernel'],
  migrations: ['kernel'],
  platform: ['kernel', 'migrations'],
  derive: ['kernel'],
}

/** Where a file stands: `src/control/agents/api.ts` is the api of the noun `control/agents`. */
function placeOf(path: string) {
  const parts = path.split('/')
  const [top = '', folder = '', name = ''] = parts
  const zone = top === 'src' ? folder : top
  const noun = zone in business ? `${zone}/${name}` : undefined
  return { zone, noun, file: parts.at(-1) ?? '', isRegistry: path === 'src/areas.ts' }
}

/** Why a file may stand where it does not; undefined where it stands well. */
export function misplaced(path: string): string | undefined {
  const { zone, noun } = placeOf(path)
  if (noun && !nouns.includes(noun)) return 'is of a noun that the architecture does not know'
  const depth = path.split('/').length
  if (path.startsWith('src/') && depth > 4) return 'lies deeper than src/folder/noun'
  const known =
    noun || zone in others || ['bin', 'areas.ts', 'workflows', 'activities', 'test'].includes(zone)
  return known ? undefined : 'lies in a folder that the architecture does not know'
}

/** What threads load of an area: so little that none of them needs a database. */
const isForThreads = ({ file }: { readonly file: string }): boolean => file === 'thread.ts'

/** Why this file may not import that; undefined where it may. */
export function forbidden(path: string, { of, typeOnly }: Import): string | undefined {
  const from = placeOf(path)
  if (from.zone === 'test') return undefined
  if (!/^(src|workflows|activities|test)\//.test(of)) return ofPackage(from, of)
  const to = placeOf(of)
  if (to.zone === 'test') return 'nothing needs the tests'
  if (to.zone === 'bin' && from.zone !== 'bin') return 'nothing imports bin'
  if (from.zone === 'workflows') return ofWorkflow(from, to, typeOnly)
  if (from.zone === 'bin' || from.zone === to.zone) return from.noun ? withinBusiness(from, to) : undefined
  if (['workflows', 'activities'].includes(to.zone)) return 'only bin wires processes'
  if (from.zone === 'activities') return ofActivity(to)
  if (from.isRegistry) return to.noun ? undefined : 'the registry lists areas only'
  if (from.noun) return to.zone === 'kernel' ? undefined : withinBusiness(from, to)
  return others[from.zone]?.includes(to.zone) ? undefined : `${from.zone} does not know ${to.zone}`
}

type Place = ReturnType<typeof placeOf>

function withinBusiness(from: Place, to: Place): string | undefined {
  if (!from.noun || !to.noun) return `an area does not know ${to.zone}`
  if (from.noun === to.noun)
    return from.file === 'api.ts' && isPlural(to) ? 'the contract does not know its handlers' : undefined
  if (nouns.indexOf(from.noun) < nouns.indexOf(to.noun)) return 'the left does not import the right'
  return isPlural(to) || to.file === 'process.ts' || isForThreads(to)
    ? undefined
    : 'another area is reached through its plural file'
}

const isPlural = ({ noun, file }: Place): boolean => file === `${noun?.split('/')[1]}.ts`

function ofWorkflow(from: Place, to: Place, typeOnly: boolean): string | undefined {
  if (to.file === 'process.ts') return undefined
  if (to.zone === 'workflows')
    return to.file === 'support.ts' || from.file === 'index.ts' ? undefined : 'a process knows no other'
  return to.zone === 'activities' && typeOnly
    ? undefined
    : 'a workflow knows processes and types of activities'
}

/** Effects are those of the API's own operations: what an activity needs beside them is handed to it. */
function ofActivity(to: Place): string | undefined {
  if (to.zone === 'kernel' || to.zone === 'derive' || to.file === 'process.ts') return undefined
  return 'an activity knows operations, and what describes a process'
}

const OF_ACTIVITIES = ['@temporalio/activity', '@temporalio/common', 'zod']

function ofPackage({ zone, noun, file }: Place, name: string): string | undefined {
  if (zone === 'activities' && !OF_ACTIVITIES.includes(name))
    return 'an activity reaches out by operations only'
  if (zone === 'workflows' && name !== '@temporalio/workflow') return 'a workflow has no other package'
  if (noun && file === 'api.ts' && name !== 'zod') return 'a contract is plain data'
  return undefined
}

/** The first circle found, or nothing. */
export function circleIn(needs: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const follow = (path: string, way: readonly string[]): string[] => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path]
    if (done.has(path)) return []
    for (const next of needs.get(path) ?? []) {
      const circle = follow(next, [...way, path])
      if (circle.length > 0) return circle
    }
    done.add(path)
    return []
  }
  for (const path of needs.keys()) {
    const circle = follow(path, [])
    if (circle.length > 0) return circle
  }
  return []
}
