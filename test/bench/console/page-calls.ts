import type { AnyOperation } from '../../../src/kernel/contract/operation.ts'
import { Refusal, RefusedError } from '../../../src/kernel/contract/problem.ts'
import { allScopeNames } from '../../../src/kernel/contract/scopes.ts'
import type { PageRequest } from '../../../src/surface/console/page.ts'
import { homePage } from '../../../src/surface/console/pages/decide/home.ts'
import { consoleSections } from '../../../src/surface/console/sections.ts'
import { html } from '../../../src/web/html.ts'
import type { Stage } from '../stage.ts'

export interface ApiCall {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
}

interface Question {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: object
}

const HEALTH: ApiCall = { method: 'GET', path: '/health' }

function callOf({ method, path }: AnyOperation, { params = {}, query = {}, body }: Question): ApiCall {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))
  const address = path.replace(/\{(\w+)\}/g, (_: string, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  )
  const call = {
    method: method as ApiCall['method'],
    path: search.size > 0 ? `${address}?${search}` : address,
  }
  return body ? { ...call, body } : call
}

/**
 * The API calls of a console page: the page is rendered here and calls by HTTP. Refused calls are omitted, as
 * on the page.
 */
export async function callsOf(path: string, { api, ownerId }: Stage, cookie: string): Promise<ApiCall[]> {
  const calls: ApiCall[] = []
  const ask = async (operation: AnyOperation, question: Question = {}) => {
    const call = callOf(operation, question)
    const answer = await fetch(api.url + call.path, {
      method: call.method,
      headers: { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      ...(call.body && { body: JSON.stringify(call.body) }),
    })
    const body = (await answer.json()) as { readonly error?: string }
    if (answer.ok) {
      calls.push(call)
      return body
    }
    throw new RefusedError(
      new Refusal(answer.status, String(answer.headers.get('x-error-code')), String(body.error)),
    )
  }
  const [, name = '', id = ''] = path.split('/')
  const page =
    name === '' ? homePage : id === '' ? consoleSections[name]?.list : consoleSections[name]?.record
  if (!page) throw new Error(`the console has no ${path}`)
  const section = { name, title: consoleSections[name]?.title ?? '' }
  await page({ ...surroundings(ownerId), path, section, id, ask } as PageRequest)
  return calls.some(({ path: asked }) => asked === HEALTH.path) ? calls : [...calls, HEALTH]
}

const surroundings = (ownerId: string): Omit<PageRequest, 'path' | 'section' | 'id' | 'ask'> => ({
  actor: {
    type: 'console',
    id: 'person_bench',
    tenant: { ownerId, mode: 'test' },
    agentId: null,
    scopes: new Set(allScopeNames),
    name: 'Ada',
  },
  tenant: { ownerId, mode: 'test' },
  now: new Date(),
  query: {},
  service: { publicUrl: null, pageUrl: () => null, runUrl: () => null } as unknown as PageRequest['service'],
  to: path => path,
  may: ({ callers }) => callers.includes('console'),
  part: async ({ make }) => html`${await make()}`,
})
