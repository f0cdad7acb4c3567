import { NoAnswer } from '../../derive/retry.ts'
import { callOf } from './arguments.ts'
import { callPaidTool, type ToolCall, type ToolClient, type ToolOptions } from './call-tool.ts'
import { type FetchOptions, fetchPaid, type Mint } from './fetch-paid.ts'
import { type Operation, type OperationTable, operationFrom } from './operation.ts'
import { type AgentPayOptions, type Settings, settingsOf } from './options.ts'
import { type Page, Pages } from './pages.ts'
import { type Call, send } from './send.ts'
import { follow } from './stream.ts'
import { withOwnVerbs } from './wait.ts'

type Method = (...given: readonly unknown[]) => unknown

export function clientClass(table: OperationTable): new (options?: AgentPayOptions) => object {
  class Client {
    readonly #settings: Settings
    readonly #nouns = new Map<string, Readonly<Record<string, Method>>>()

    constructor(options?: AgentPayOptions) {
      this.#settings = settingsOf(options ?? {})
    }

    static noun(client: Client, name: string): Readonly<Record<string, Method>> {
      const known = client.#nouns.get(name)
      if (known) return known
      const made = nounOf(name, table, client.#settings)
      client.#nouns.set(name, made)
      return made
    }

    fetch(url: string, options: FetchOptions): Promise<Response> {
      return fetchPaid(url, options, this.#settings, Client.noun(this, 'mpp').mint as Mint)
    }

    callTool<R>(client: ToolClient<R>, call: ToolCall, options: ToolOptions): Promise<R> {
      return callPaidTool(client, call, options, Client.noun(this, 'mpp').mint as Mint)
    }
  }
  for (const name of Object.keys(table))
    Object.defineProperty(Client.prototype, name, {
      enumerable: true,
      get(this: Client) {
        return Client.noun(this, name)
      },
    })
  return Client
}

function nounOf(noun: string, table: OperationTable, settings: Settings): Readonly<Record<string, Method>> {
  const verbs = Object.entries(table[noun] ?? {}).map(([verb, line]): [string, Method] => {
    const operation = operationFrom(`${noun}.${verb}`, line)
    const list = table[noun]?.list
    const newest = list === undefined ? undefined : operationFrom(`${noun}.list`, list)
    return [verb, (...given) => run(settings, callOf(operation, given), newest)]
  })
  return withOwnVerbs(noun, Object.fromEntries(verbs), settings)
}

function run(settings: Settings, call: Call, newest: Operation | undefined): unknown {
  const { answers } = call.operation
  if (answers === 'list') return new Pages(cursor => pageOf(settings, call, cursor))
  if (answers === 'stream') return streamOf(settings, call, newest)
  return answers === 'file' ? fileOf(settings, call) : bodyOf(settings, call)
}

async function bodyOf(settings: Settings, call: Call): Promise<unknown> {
  const { text, status } = await send(settings, call)
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch (error) {
    throw new NoAnswer(`${call.operation.key}: the answer with the status ${status} is no JSON`, true, error)
  }
}

const fileOf = async (settings: Settings, call: Call): Promise<Response> =>
  (await send(settings, call)).response

async function pageOf<T>(settings: Settings, call: Call, cursor: string | undefined): Promise<Page<T>> {
  const input = cursor === undefined ? call.input : { ...call.input, cursor }
  return (await bodyOf(settings, { ...call, input })) as Page<T>
}

function streamOf(settings: Settings, call: Call, newest: Operation | undefined) {
  const { signal } = call.options
  const { 'last-event-id': kept, ...headers } = Object.fromEntries(new Headers(call.options.headers))
  return follow({
    signal,
    open: last =>
      send(settings, {
        ...call,
        options: {
          ...call.options,
          headers: { ...headers, ...(last === undefined ? {} : { 'last-event-id': last }) },
        },
      }),
    async newestId() {
      if (kept !== undefined || !newest) return kept
      const options = signal ? { signal } : {}
      const first = { operation: newest, params: {}, input: { limit: 1 }, options }
      const { data } = await pageOf<{ readonly id: string }>(settings, first, undefined)
      return data[0]?.id
    },
  })
}
