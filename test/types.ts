/** Mistakes that must not compile. `npm run check` compiles it and nothing runs it: each line expects its error. */
import { z } from 'zod'
import type { Client } from '../src/derive/client.ts'
import { area } from '../src/kernel/contract/area.ts'
import { internal, operationsFor } from '../src/kernel/contract/callers.ts'
import type { HotHandler } from '../src/kernel/contract/handlers.ts'
import { stateMachine } from '../src/kernel/contract/machine.ts'
import { bindHandlers, get, type HandlerOf, list, notFound, post } from '../src/kernel/contract/operation.ts'
import type { Scope } from '../src/kernel/contract/scopes.ts'
import { id } from '../src/values/ids.ts'
import { addCents, type Cents, cents } from '../src/values/money.ts'

const Jar = z.object({ id: id('jar'), size: z.int() })

const api = {
  open: post('/jars/{jarId}/open', {
    summary: 'Open a jar',
    callers: ['key'],
    scope: 'policies:write',
    body: z.strictObject({ force: z.int() }),
    returns: [201, Jar],
    fails: { jar_not_found: notFound('jar') },
    emits: { 'jar.opened': z.object({ jarId: id('jar') }) },
  }),
  list: list('/jars', {
    summary: 'List jars',
    callers: ['key'],
    filters: { size: z.coerce.number().optional() },
    item: Jar,
  }),
}

const one = { get: internal.getOne('/jars/{id}', 'a jar', Jar, { jar_not_found: notFound('jar') }) }

const hotApi = {
  take: post('/jars/{jarId}/take', {
    summary: 'Take from a jar',
    callers: ['key'],
    run: 'hot',
    returns: [201, Jar],
  }),
}

const outside = { summary: 'Ask', callers: ['key'], returns: [200, Jar] } as const
const outsideApi = { ask: post('/jars/{jarId}/ask', { ...outside, run: 'external' }) }
const hotOutsideApi = { ask: post('/jars/{jarId}/ask', { ...outside, run: 'hot-external' }) }

type Handlers = { readonly [Name in keyof typeof api]: HandlerOf<(typeof api)[Name]> }

const jar = { id: 'jar_1', size: 1 }

export const right: Handlers = {
  open({ params, body }, { emit, refuse }) {
    if (body.force > 1) return refuse('jar_not_found')
    emit('jar.opened', { jarId: params.jarId })
    return jar
  },
  list: (_, { pageOf }) => pageOf([jar]),
}

const jars = area('Jars', 'Jars.', bindHandlers(api, right))

/** What a handler must not do. */
export const wrong: Record<string, () => unknown> = {
  // @ts-expect-error a handler is missing
  missingHandler: () => bindHandlers(api, { open: right.open }),
  // @ts-expect-error a handler for what is not declared
  unknownHandler: () => bindHandlers(api, { ...right, close: () => jar }),

  undeclaredRefusal: () =>
    bindHandlers(api, {
      ...right,
      // @ts-expect-error the contract does not know this refusal
      open: (_, { refuse }) => refuse('jar_is_stuck'),
    }),

  undeclaredRefusalOfNone: () =>
    bindHandlers(api, {
      ...right,
      // @ts-expect-error this operation refuses nothing
      list: (_, { refuse }) => refuse('jar_not_found'),
    }),

  undeclaredEvent: () =>
    bindHandlers(api, {
      ...right,
      open(_, { emit }) {
        // @ts-expect-error the contract does not know this event
        emit('jar.closed', { jarId: 'jar_1' })
        return jar
      },
    }),

  wrongEventData: () =>
    bindHandlers(api, {
      ...right,
      open(_, { emit }) {
        // @ts-expect-error the event names its jar otherwise
        emit('jar.opened', { id: 'jar_1' })
        return jar
      },
    }),

  wrongPathParameter: () =>
    bindHandlers(api, {
      ...right,
      // @ts-expect-error the path says jarId
      open: ({ params }) => ({ ...jar, id: params.id }),
    }),

  wrongMember: () =>
    bindHandlers(api, {
      ...right,
      // @ts-expect-error the body has no such member
      open: ({ body }) => ({ ...jar, size: body.strength }),
    }),

  wrongResult: () =>
    bindHandlers(api, {
      ...right,
      // @ts-expect-error the contract returns a size
      open: () => ({ id: 'jar_1' }),
    }),

  wrongResultType: () =>
    bindHandlers(api, {
      ...right,
      // @ts-expect-error a size is a number
      open: () => ({ id: 'jar_1', size: '1' }),
    }),
}

const load = async () => jar
const decide = () => jar
const write = async () => undefined
const step = { name: 'ask', load, decide, write }
const ended = { record: load, recover: load }

export const wrongRuns: Record<string, () => unknown> = {
  right: () => bindHandlers(hotApi, { take: { load, decide, write } }),
  // @ts-expect-error a hot handler writes
  hotWithoutWrite: () => bindHandlers(hotApi, { take: { load, decide } }),
  // @ts-expect-error a hot operation has a hot handler
  hotAsPlain: () => bindHandlers(hotApi, { take: () => jar }),
  // @ts-expect-error a plain operation has a plain handler
  plainAsHot: () => bindHandlers(api, { ...right, open: { load, decide, write } }),
  // @ts-expect-error what crashed must be recovered
  outsideWithoutRecover: () => bindHandlers(outsideApi, { ask: { reserve: load, call: load, record: load } }),

  rightStep: () =>
    bindHandlers(hotOutsideApi, {
      ask: { begin: { by: 'writing', step: { ...step, lanes: null } }, ...ended },
    }),
  // @ts-expect-error a batched step says whether a locked row delays its other requests
  stepWithoutLanes: () => bindHandlers(hotOutsideApi, { ask: { begin: { by: 'writing', step }, ...ended } }),

  // @ts-expect-error to decide is pure: nothing is waited for
  decidingLater: () => bindHandlers(hotApi, { take: { load, decide: async () => jar, write } }),
}

export const handler: HotHandler<unknown, typeof jar, 'jar_empty', Record<never, never>, typeof jar> = {
  load,
  // @ts-expect-error the contract does not know this refusal
  decide: (_, __, { refuse }) => refuse('jar_is_stuck'),
  write,
}

export const wrongContracts: Record<string, () => unknown> = {
  unknownScope: () =>
    // @ts-expect-error there is no such scope
    get('/jars', { summary: 'x', callers: ['key'], scope: 'jars:read', returns: [200, Jar] }),
  unknownCaller: () =>
    // @ts-expect-error there is no such caller
    get('/jars', { summary: 'x', callers: ['robot'], returns: [200, Jar] }),
  unknownCallers: () =>
    // @ts-expect-error there is no such caller
    operationsFor({ callers: ['robot'] }),
  misspeltMemberForCallers: () =>
    // @ts-expect-error it is called summary
    internal.get('/jars', { sumary: 'x', returns: [200, Jar] }),
  unknownRefusal: () => {
    const get: HandlerOf<typeof one.get> = (_, { refuse }) =>
      // @ts-expect-error the contract does not know this refusal
      refuse('jar_is_stuck')
    return get
  },
  unknownRun: () =>
    // @ts-expect-error there is no such kind of run
    post('/jars', { summary: 'x', callers: ['key'], run: 'warm', returns: [200, Jar] }),
  misspeltMember: () =>
    // @ts-expect-error it is called summary
    get('/jars', { sumary: 'x', callers: ['key'], returns: [200, Jar] }),
  wrongExample: () =>
    post('/jars', {
      summary: 'x',
      callers: ['key'],
      body: z.object({ size: z.int() }),
      // @ts-expect-error the example is not one
      example: { size: 'big' },
      returns: [200, Jar],
    }),
}

// @ts-expect-error there is no such scope
export const scope: Scope = 'jars:write'

const door = stateMachine('door', { open: ['shut'], shut: ['open', 'locked'], locked: [] })

export const wrongMachines: Record<string, () => unknown> = {
  // @ts-expect-error a step to a state that is not there
  unknownStep: () => stateMachine('door', { open: ['ajar'], shut: [] }),
  // @ts-expect-error a move to a state that is not there
  unknownMove: () => door.move({ status: 'open' }, 'ajar'),
  // @ts-expect-error a record in a state that is not there
  unknownState: () => door.move({ status: 'ajar' as const }, 'open'),
}

export const wrongCalls = (client: Client<{ jars: typeof jars }>): Record<string, () => unknown> => ({
  right: () => client.jars.open({ params: { jarId: 'jar_1' }, body: { force: 1 }, idempotencyKey: 'a' }),
  rightWithNothing: () => client.jars.list(),
  // @ts-expect-error there is no such noun
  unknownNoun: () => client.bottles,
  // @ts-expect-error there is no such verb
  unknownVerb: () => client.jars.close,
  // @ts-expect-error the path says jarId
  wrongPathParameter: () => client.jars.open({ params: { id: 'jar_1' }, body: { force: 1 } }),
  // @ts-expect-error the path has a parameter
  noPathParameter: () => client.jars.open({ body: { force: 1 } }),
  // @ts-expect-error a body is needed
  noBody: () => client.jars.open({ params: { jarId: 'jar_1' } }),
  // @ts-expect-error force is a number
  wrongInput: () => client.jars.open({ params: { jarId: 'jar_1' }, body: { force: 'much' } }),
  // @ts-expect-error the body has no such member
  unknownMember: () => client.jars.open({ params: { jarId: 'jar_1' }, body: { force: 1, tool: 'knife' } }),
  // @ts-expect-error the list has no such filter
  unknownFilter: () => client.jars.list({ query: { colour: 'red' } }),
  async wrongAnswer() {
    const { body } = await client.jars.open({ params: { jarId: 'jar_1' }, body: { force: 1 } })
    // @ts-expect-error the answer has no such member
    return body.colour
  },
})

/** What is no amount of cents, but for the last. */
export const amounts = (amount: Cents): Cents[] => [
  // @ts-expect-error a bigint that may count anything
  100n,
  // @ts-expect-error the sum of two amounts by a plain +
  amount + amount,
  // @ts-expect-error an amount times a number
  amount * 2n,
  // @ts-expect-error an amount with its sign changed by a plain -
  -amount,
  // @ts-expect-error a number, which may be one of euros
  1,
  addCents(amount, cents(100n)),
]

interface Shelf {
  readonly jars: number
  readonly labelled?: boolean
}

const shelve = ({ jars, labelled = false }: Shelf) => (labelled ? jars : 0)
const lost = { jars: 1, renamed: true }

/** It does compile, since the member is behind a variable: test/tidy/options.ts finds it. */
export const shelves = [shelve(lost), shelve({ jars: 1, labelled: true })]
