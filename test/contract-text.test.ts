import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { areas } from '../src/areas.ts'
import { allOperations } from '../src/kernel/contract/area.ts'
import { mediaTypeOf } from '../src/kernel/contract/file.ts'
import { oauthErrors } from '../src/kernel/contract/oauth-errors.ts'
import { type AnyOperation, isWritingOperation, type RefusalSpec } from '../src/kernel/contract/operation.ts'
import { universalProblems } from '../src/kernel/contract/problem.ts'
import './contract/registrations.ts'
import './contract/signatures.ts'
import './contract/stored-answers.ts'
import { withJsonNames } from '../src/values/json-names.ts'
import { exampleAsRead } from './support/contract/example-body.ts'
import { IGNORING_UNKNOWN } from './support/contract/standards.ts'
import { operations } from './support/contract/world.ts'

const operationEntries = operations.map(registered => [registered.key, registered.operation] as const)
const writes = operationEntries.filter(
  ([, operation]) => operation.method !== 'GET' || isWritingOperation(operation),
)

/** With any scopes: stopping an unexpected recovery, and reading what one’s own refusal names. */
const FOR_ANY_KEY = [
  'assistants.message',
  'people.stopRecovery',
  'passkeys.getChallenge',
  'keys.current',
  'keys.revokeCurrent',
]

interface Json {
  readonly properties?: Record<string, Json>
  readonly additionalProperties?: boolean | Json
  readonly items?: Json
  readonly anyOf?: Json[]
  readonly allOf?: Json[]
  readonly $defs?: Record<string, Json>
}

/** Browsers add members to passkey answers, which are sent unchanged. */
const MADE_BY_BROWSERS =
  /\.Passkey(Assertion(\.response)?|Registration(\.response|\.clientExtensionResults(\.credProps)?)?)$/

/** The places in a schema that accept unnamed members. */
function openPlaces(schema: Json, at = 'body'): string[] {
  const { properties, additionalProperties, items, anyOf = [], allOf = [], $defs = {} } = schema
  const own = properties && additionalProperties !== false ? [at] : []
  const below = [
    ...Object.entries({ ...properties, ...$defs }).map(([name, member]) =>
      openPlaces(member, `${at}.${name}`),
    ),
    ...[...anyOf, ...allOf, ...(items ? [items] : [])].map(member => openPlaces(member, `${at}[]`)),
    ...(typeof additionalProperties === 'object' ? [openPlaces(additionalProperties, `${at}.*`)] : []),
  ]
  return [...own, ...below.flat()]
}

const jsonOf = (schema: z.ZodType): Json =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as unknown as Json

/** Errors in the members of a contract that concern input and answer. */
function wronglyNamed(operation: AnyOperation): string[] {
  const { callers, returns, fails = {} } = operation
  const { reads = {}, headers = {} } = operation.http ?? {}
  const refusals: [code: string, failure: RefusalSpec][] = Object.entries(fails)
  const statuses = new Set([returns[0], ...refusals.map(([, [status]]) => status)])
  const sent = Object.entries(headers).flatMap(([status, own]) =>
    Object.entries(own as Record<string, string>).map(([name, sentence]) => ({
      status: Number(status),
      name,
      sentence,
    })),
  )
  const sentences = [...Object.values<string>(reads), ...sent.map(({ sentence }) => sentence)]
  const types = refusals.flatMap(([, [, , told]]) => (told?.problem ? [told.problem] : []))
  return [
    ...sentences.filter(sentence => !/^[A-Z`].*\.$/.test(sentence)),
    ...Object.keys(reads).filter(name => !/^[a-z-]+$/.test(name)),
    ...sent.filter(({ name }) => !/^[A-Z]+[a-z]*(-[A-Z]+[a-z]*)*$/.test(name)).map(({ name }) => name),
    ...sent.filter(({ status }) => !statuses.has(status)).map(({ status }) => `it never answers ${status}`),
    ...types.filter(([type, title]) => !/^[a-z-]+$/.test(type) || !/^[A-Z].*[^.]$/.test(title)).map(String),
    // Handlers do not read our credentials.
    ...('authorization' in reads && callers.join() !== 'public'
      ? ['authorization is read by public ones only']
      : []),
  ]
}

/** The compiler does not check what is spread into a contract. */
const MEMBERS = new Set(
  `method path summary description callers keyOnly scope run query body limits returns fails emits example tag requires
  readsClock isReport http tool signature accepted goesOnAt csv defaultsSince070 repeatsForCaller`.split(
    /\s+/,
  ),
)

test('no contract has a member that nothing reads', () => {
  const unknown = operationEntries.flatMap(([key, operation]) =>
    Object.keys(operation)
      .filter(member => !MEMBERS.has(member))
      .map(member => `${key}: ${member}`),
  )
  expect(unknown).toEqual([])
})

describe.each(operationEntries)('the contract of %s', (key, operation) => {
  test('accepts no member that it does not name', () => {
    const bodies = [operation.body, operation.query].filter(schema => schema !== undefined)
    const open = bodies.flatMap(schema => openPlaces(jsonOf(schema)))
    const isOpen = open.some(place => !MADE_BY_BROWSERS.test(place))
    expect(isOpen).toBe(IGNORING_UNKNOWN.has(key))
  })

  test('has a valid example if it requires a body', async () => {
    const { body, example } = operation
    const needsOne = body !== undefined && !body.safeParse({}).success
    const isMissing = needsOne && example === undefined
    expect(isMissing ? `${key} needs an \`example\` in its api.ts: a body that works when pasted.` : '').toBe(
      '',
    )
    const sent = await exampleAsRead(body, example)
    const problem = example && body ? body.safeParse(withJsonNames(body, sent)).error?.message : undefined
    expect(problem ? `${key}: its own \`example\` does not fit its \`body\`: ${problem}` : '').toBe('')
  })

  test('has a summary, and a code and sentence for each refusal', () => {
    expect(operation.summary).toMatch(/^[A-Z].*[^.]$/)
    for (const [code, [status, message]] of Object.entries<RefusalSpec>(operation.fails ?? {})) {
      expect(code).toMatch(/^[a-z][a-z_]*$/)
      // If a standard defines the code, programs compare it, so it is the whole message.
      if (code in oauthErrors) expect(message).toBe(code)
      else expect(message).toMatch(/[.?)}]$/)
      // A redirect is documented as a refusal, too: no client of ours follows it.
      expect(status).toBeGreaterThanOrEqual(300)
      if (!(code in oauthErrors)) expect(universalProblems).not.toHaveProperty([code])
    }
  })

  test('reads, sends and refuses by what is its own', () => {
    expect(wronglyNamed(operation)).toEqual([])
  })

  test('requires a scope if keys or agents may call it', () => {
    const scoped =
      !FOR_ANY_KEY.includes(key) &&
      operation.callers.some((caller: string) => caller === 'key' || caller === 'agent')
    const remedy = scoped
      ? `${key}: keys and agents call it, so it needs a \`scope\`, one of src/kernel/contract/scopes.ts.`
      : `${key}: neither keys nor agents call it, so it has no \`scope\`. Remove it.`
    expect((operation.scope !== undefined) === scoped ? '' : remedy).toBe('')
    if (operation.callers.includes('public')) expect(operation.callers).toEqual(['public'])
    if (operation.scope)
      expect(operation.scope).toMatch(
        operation.method === 'GET' || operation.run === 'read' ? /:read$/ : /:(?!read)/,
      )
  })

  test('returns a schema that JSON Schema can express', () => {
    const [status, schema] = operation.returns
    expect(status === 204).toBe(schema instanceof z.ZodUndefined)
    if (!mediaTypeOf(schema)) expect(() => jsonOf(schema)).not.toThrow()
  })
})

describe.each(operationEntries.filter(([, { path }]) => /\{\w+\}/.test(path)))(
  'the contract of %s',
  (key, operation) => {
    test('has a 404 for the record that its address names', () => {
      const statuses = Object.values<RefusalSpec>(operation.fails ?? {}).map(([status]) => status)
      const remedy = `${key}: its address names a record, so it \`fails\` with a 404: missing('noun') of src/kernel/contract/operation.ts.`
      expect(statuses.includes(404) ? '' : remedy).toBe('')
    })
  },
)

/** Its answer is a stream, and its message and answer are stored by two operations of their own, which emit. */
const TELLS_OF_ITS_PARTS = 'canvas.message'

describe.each(writes)('%s', (key, { emits = {}, run, requires }) => {
  test('emits an event for what it changes, or only reads, or only asks for a passkey', () => {
    const isRead = run === 'read'
    const remedy = isRead
      ? `${key} has \`run: 'read'\` and changes nothing: it \`emits\` no event.`
      : `${key} changes something: declare in \`emits\` what it tells, or that it has \`run: 'read'\`.`
    const isSilent = Object.keys(emits).length === 0
    expect(isSilent === isRead || requires === 'passkeys' || key === TELLS_OF_ITS_PARTS ? '' : remedy).toBe(
      '',
    )
    for (const [event, schema] of Object.entries(emits)) {
      expect(event).toMatch(/^[a-z_]+(\.[a-z_]+)+$/)
      // The audit trail takes the first member as the id of the event's record.
      expect(Object.keys((schema as z.ZodObject).shape)[0]).toMatch(/^[a-z]\w*Id$/)
    }
  })
})

describe('all contracts together', () => {
  test('have one schema for each event', () => {
    const shapes = new Map<string, Set<string>>()
    for (const { operation } of operations)
      for (const [event, schema] of Object.entries<z.ZodType>(operation.emits ?? {}))
        shapes.set(event, (shapes.get(event) ?? new Set()).add(JSON.stringify(jsonOf(schema))))
    expect([...shapes].filter(([, texts]) => texts.size > 1).map(([event]) => event)).toEqual([])
  })

  test('use each address once', () => {
    const places = operations.map(
      ({ operation: { method, path } }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`,
    )
    expect(new Set(places).size).toBe(places.length)
  })

  test('react only to events that an operation emits', () => {
    const emitted = new Set(allOperations(areas).flatMap(({ operation }) => Object.keys(operation.emits)))
    const awaited = Object.values(areas).flatMap(({ reactions }) => Object.keys(reactions))
    expect(awaited.filter(event => !emitted.has(event))).toEqual([])
  })
})
