import type { z } from 'zod'
import { areas } from '../../../src/areas.ts'
import { publishedOperations } from '../../../src/kernel/contract/area.ts'
import { mediaTypeOf } from '../../../src/kernel/contract/file.ts'
import type { AnyOperation } from '../../../src/kernel/contract/operation.ts'
import { consoleSections } from '../../../src/surface/console/sections.ts'
import { jsonName } from '../../../src/values/json-names.ts'
import { addPerson } from '../cases/approval-cases.ts'
import { bearer, type Stage } from '../stage.ts'
import type { Payer } from './fill.ts'

/** A read that a dashboard or an agent makes. Its name is the same for every owner. */
export interface Question {
  readonly name: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

type Json = Readonly<Record<string, unknown>>

/** Reads that take all there is of an owner: their time is that of the owner's past. */
export const readsAll = ({ limits }: AnyOperation): boolean => limits?.oneAtATime === true

const reads = publishedOperations(areas)
  .map(({ operation }) => operation)
  .filter(
    ({ method, callers, returns, path }) =>
      method === 'GET' &&
      callers.includes('key') &&
      (mediaTypeOf(returns[1]) ?? 'application/json') === 'application/json' &&
      !path.endsWith('/stream'),
  )

export async function askJson(stage: Pick<Stage, 'api'>, path: string, headers: Question['headers']) {
  const answer = await fetch(stage.api.url + path, { headers, redirect: 'manual' })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.includes('json')
  return { isGood: answer.status === 200, body: isJson ? (JSON.parse(text) as Json) : {} }
}

type Ask = (path: string) => Promise<Json | undefined>

const firstOf = (page: Json | undefined): Json | undefined => (page?.data as Json[] | undefined)?.[0]

/** The path with the newest record of each collection that it names; undefined where there is none. */
async function addressOf(path: string, ask: Ask): Promise<string | undefined> {
  const [, before, name = '', rest = ''] = /^(.*?)\/\{(\w+)\}(.*)$/.exec(path) ?? []
  if (before === undefined) return path
  const record = firstOf(await ask(`${before}?limit=1`))
  const id = record?.[name] ?? record?.id
  return id === undefined ? undefined : addressOf(`${before}/${encodeURIComponent(String(id))}${rest}`, ask)
}

/** The values of an enumeration, also of an optional one. */
function optionsOf(schema: z.ZodType): readonly string[] {
  const { options } = schema as { options?: readonly unknown[] }
  if (options?.every(option => typeof option === 'string')) return options as readonly string[]
  const { innerType } = schema.def as { innerType?: z.ZodType }
  return innerType ? optionsOf(innerType) : []
}

const DAY_MS = 86_400_000
const OWN_VALUES: Readonly<Record<string, () => string>> = {
  from: () => new Date(Date.now() - 8 * DAY_MS).toISOString(),
  to: () => new Date(Date.now() - 7 * DAY_MS).toISOString(),
  merchantContains: () => 'shop 3',
  minAmountEuros: () => '2',
  maxAmountEuros: () => '2',
}

/** Each filter by itself, with the value of the newest record, or with each that there is. */
function filtersOf({ query }: AnyOperation, record: Json | undefined): [name: string, value: string][] {
  const shape = (query as z.ZodObject | undefined)?.shape ?? {}
  return Object.entries(shape).flatMap(([inner, schema]): [string, string][] => {
    const name: string = jsonName(inner)
    if (name === 'limit' || name === 'cursor') return []
    const options = optionsOf(schema as z.ZodType)
    if (options.length > 0) return options.map(option => [name, option])
    const value = OWN_VALUES[name]?.() ?? record?.[name]
    return ['string', 'number', 'boolean'].includes(typeof value) ? [[name, String(value)]] : []
  })
}

/** A record's own value says nothing to a reader of the name. */
const nameOf = (path: string, [filter, value]: [string, string]): string =>
  `${path}?${filter}=${/^[a-z_.]{1,30}$/i.test(value) && !value.includes('_01') ? value : ''}`

/** All reads of the contracts, each list without a filter, with each of them, and its second page. */
export async function readsOf(stage: Stage, payer: Payer): Promise<Question[]> {
  const headers = bearer(payer)
  const ask: Ask = async path => {
    const { isGood, body } = await askJson(stage, path, headers)
    return isGood ? body : undefined
  }
  const questions: Question[] = []
  for (const operation of reads.filter(one => !readsAll(one))) {
    const address = await addressOf(operation.path, ask)
    const page = address === undefined ? undefined : await ask(address)
    if (address === undefined || page === undefined) continue
    questions.push({ name: operation.path, path: address, headers })
    if (page.nextCursor) {
      const next = `?cursor=${encodeURIComponent(String(page.nextCursor))}`
      questions.push({ name: `${operation.path}, the next page`, path: address + next, headers })
    }
    for (const filter of filtersOf(operation, firstOf(page))) {
      const path = `${address}?${new URLSearchParams([filter])}`
      if (await ask(path)) questions.push({ name: nameOf(operation.path, filter), path, headers })
    }
  }
  return questions
}

/** The reads that take all there is of an owner. */
export async function wholeReadsOf(stage: Stage, payer: Payer): Promise<Question[]> {
  const headers = bearer(payer)
  const ask: Ask = async path => (await askJson(stage, path, headers)).body
  const questions: Question[] = []
  for (const { path } of reads.filter(readsAll)) {
    const address = await addressOf(path, ask)
    if (address !== undefined) questions.push({ name: path, path: address, headers })
  }
  return questions
}

/** Every page of the console that a person can open. */
export async function pagesOf(stage: Stage, payer: Payer): Promise<Question[]> {
  const { cookie } = await addPerson({ ...stage, ...payer })
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  const questions: Question[] = [{ name: 'page: home', path: '/console', headers }]
  for (const [name, { record }] of Object.entries(consoleSections)) {
    const path = `/console/${name}`
    const answer = await fetch(stage.api.url + path, { headers, redirect: 'manual' })
    const html = await answer.text()
    if (answer.status !== 200) continue
    questions.push({ name: `page: ${name}`, path, headers })
    const [, id] = record ? (new RegExp(`${name}/([a-z]+_[0-9a-z]{26})"`).exec(html) ?? []) : []
    if (id !== undefined) questions.push({ name: `page: one of ${name}`, path: `${path}/${id}`, headers })
  }
  return questions
}
