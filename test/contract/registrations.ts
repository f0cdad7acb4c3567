import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { askerOf } from '../../src/app/ports.ts'
import { areas } from '../../src/areas.ts'
import { type Area, allOperations } from '../../src/kernel/contract/area.ts'
import { eventDeclarations, eventSchemas } from '../../src/kernel/contract/event-types.ts'
import { eventDescriptionOf } from '../../src/kernel/contract/events.ts'
import { question } from '../../src/kernel/contract/question.ts'
import { allScopeNames } from '../../src/kernel/contract/scopes.ts'

// Each message names the place and the remedy: it is all that an engineer sees after forgetting a
// registration.

const all: readonly Area[] = Object.values(areas)
const sources = globSync('src/*/*/**/*.ts').map(path => ({ path, text: readFileSync(path, 'utf8') }))
const areaList = readFileSync('src/areas.ts', 'utf8')

/** Every match in the sources of the nouns, with its file. */
const inSources = (pattern: RegExp): { path: string; names: string[] }[] =>
  sources.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map(([, ...names]) => ({ path, names: names.map(String) })),
  )

const isUsedBeside = (name: string, place: string): boolean =>
  sources.some(({ path, text }) => path !== place && new RegExp(`\\b${name}\\b`).test(text))

/** The table of functional areas in the contract, in its order. */
const AREAS_OF_THE_CONTRACT =
  `Health, Customers, Agents, Agent Tokens, Policies, Intents, Cards, Checkout, MPP, Billing,
Transactions, Webhooks, Disputes, Evidence, GDPR, Merchants, Intelligence, Access Events, Keys, Wallets, Transfers,
Refunds, Receipts, Card Controls, Card Requests, Beneficiaries, Onboarding, KYC, Runs, Delegations, Ledger, Statements,
Credentials, Risk, Analytics, Forecast, Audit, Outcomes, Fund, Claim / Collect, Pass-Through, Merchant Applications,
Push Subscriptions, Security Incidents, Canvas, Sessions, Mandates, Passkeys, CLI Auth, Well-Known`.split(
    /,\s/,
  )

/** Steps without callers that emit no event, with the reason. */
const SILENT_STEPS = {
  'changeRequests.expire':
    'The change has expired by its own end; only what it would have written is forgotten.',
  'incoming.finish': 'The operation that books the credit fires the events.',
  'mpp.deleteToken': 'The credential has ended before, with its event.',
  'rails.takeReport': 'Each payment’s notice fires the events of its payment.',
  'webhooks.retry': 'It makes a delivery due; the delivery shows its attempts.',
}

describe('the registrations', () => {
  test('list every area', () => {
    const declared = inSources(/^export const (\w+Area) = area\(/gm)
    expect(declared.length).toBeGreaterThan(20)
    const missing = declared
      .filter(({ names: [name] }) => !new RegExp(`^  \\w+: ${name},`, 'm').test(areaList))
      .map(
        ({ path, names: [name] }) =>
          `${path}: ${name} is no area of the service. Import it in src/areas.ts and add a line \`noun: ${name},\` there, right of the areas that it depends on.`,
      )
    expect(missing).toEqual([])
  })

  test('have handlers for every contract', () => {
    const missing = inSources(/^export const (\w+Api) = \{/gm)
      .filter(({ path, names: [name] }) => !isUsedBeside(String(name), path))
      .map(
        ({ path, names: [name] }) =>
          `${path}: ${name} has no handlers. Write \`implement(${name}, { … })\` in the noun's plural file, and its area at the end of that file.`,
      )
    expect(missing).toEqual([])
  })

  test('assign every entity to an area', () => {
    const entityNames = new Set(all.flatMap(({ entities }) => entities.map(({ name }) => name)))
    const declared = inSources(/^export class (\w+) extends \w+\.class\b/gm)
    expect(declared.length).toBeGreaterThan(20)
    const missing = declared
      .filter(({ names: [name] }) => !entityNames.has(String(name)))
      .map(
        ({ path, names: [name] }) =>
          `${path}: the database does not know the entity ${name}. Add it to the \`entities\` of an area, at the end of the noun's plural file.`,
      )
    expect(missing).toEqual([])
  })

  test('have a migration for every entity’s table', () => {
    const schema = globSync('src/migrations/**/*.sql')
      .map(path => readFileSync(path, 'utf8'))
      .join('\n')
    const missing = inSources(/\b(?:tenantTable\('\w+', |tableName: )'(\w+)'/g)
      .filter(({ names: [table] }) => !new RegExp(`create table (if not exists )?${table}\\b`).test(schema))
      .map(
        ({ path, names: [table] }) =>
          `${path}: no migration creates the table ${table}. Write one in src/migrations.`,
      )
    expect(missing).toEqual([])
  })

  test('list every scope, and every scope is required by an operation', () => {
    const required = new Map(
      allOperations(areas).flatMap(({ key, operation }) =>
        operation.scope ? [[operation.scope as string, key]] : [],
      ),
    )
    const list = 'src/kernel/contract/scopes.ts'
    expect([
      ...[...required]
        .filter(([scope]) => !(allScopeNames as readonly string[]).includes(scope))
        .map(
          ([scope, key]) =>
            `${key} requires the scope ${scope}, which nobody can have. Add a line '${scope}' to ${list}: 'given', 'asked' or 'never' to agent tokens.`,
        ),
      ...allScopeNames
        .filter(scope => !required.has(scope))
        .map(
          scope =>
            `${list}: no operation requires ${scope}. Remove the line, or name the scope in a contract.`,
        ),
    ]).toEqual([])
  })

  test('have one sentence for every event', () => {
    const sentencesOf = (event: string): Set<string> =>
      new Set(
        eventDeclarations(areas).flatMap(events => {
          const declaration = events[event]
          return declaration ? (eventDescriptionOf(declaration)?.sentence ?? []) : []
        }),
      )
    const emitters = (event: string): string =>
      allOperations(areas)
        .filter(({ operation }) => event in operation.emits)
        .map(({ key }) => key)
        .join(', ')
    const wrong = [...eventSchemas(areas).keys()].flatMap(event => {
      const { size } = sentencesOf(event)
      if (size === 1) return []
      return size === 0
        ? `${event} (${emitters(event)}) has no sentence. Declare it in the contract as '${event}': event('What has happened.', Schema), of src/kernel/contract/events.ts.`
        : `${event} (${emitters(event)}) has ${size} sentences. Keep the one in the contract of its noun; the others name the schema only.`
    })
    expect(wrong).toEqual([])
  })

  test('have a tag for each area of the contract, by its name', () => {
    const tags = new Set(allOperations(areas).map(({ tag }) => tag))
    expect(AREAS_OF_THE_CONTRACT.filter(name => !tags.has(name))).toEqual([])
  })

  test('answer every question of a noun, and refuse one that no area answers', async () => {
    const asked = inSources(/= question<[^;]*?\(\s*'([\w.]+)'/g).flatMap(({ names }) => names)
    const answered = new Set(all.flatMap(({ answers }) => answers.map(one => one.question)))
    expect(asked.toSorted()).toEqual([...answered].sort())
    const ask = askerOf({})
    const context = { tenant: { ownerId: 'customer_1', mode: 'test' }, sql: async () => [] } as const
    await expect(ask(question<null, string>('areas.unanswered'), null, context)).rejects.toThrow(
      'no area answers areas.unanswered',
    )
  })

  test('fire an event for what the service changes by itself', () => {
    const silent = allOperations(areas).filter(
      ({ operation: { callers, method, emits } }) =>
        callers.length === 0 && method !== 'GET' && Object.keys(emits).length === 0,
    )
    expect(silent.map(({ key }) => key).sort()).toEqual(Object.keys(SILENT_STEPS).sort())
  })

  test('have an area for every section of the documentation', () => {
    const sections = all.map(({ name }) => name)
    expect(
      allOperations(areas)
        .filter(({ tag }) => !sections.includes(tag))
        .map(
          ({ key, tag }) =>
            `${key} is filed under “${tag}”, which no area describes. Use the name of an area as its \`tag\`, or leave the tag out.`,
        ),
    ).toEqual([])
    expect(
      sections
        .filter((name, index) => sections.indexOf(name) !== index)
        .map(name => `Two areas are called “${name}”. Give one another name, at the end of its plural file.`),
    ).toEqual([])
  })
})
