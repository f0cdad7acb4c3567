import { area } from '../../kernel/contract/area.ts'
import type { CsvFile } from '../../kernel/contract/csv-file.ts'
import type { ResponseFile } from '../../kernel/contract/file.ts'
import {
  type AnyOperation,
  bindHandlers,
  type ContextOf,
  csvFormOf,
} from '../../kernel/contract/operation.ts'
import { Refusal, RefusedError, withHeaders } from '../../kernel/contract/problem.ts'
import { type Html, html } from '../../web/html.ts'
import { consoleViewApi } from './api.ts'
import { consoleAsset, renderConsoleFrame } from './frame.ts'
import { readFrameFacts, waitingCountText } from './frame-facts.ts'
import { describeHealth } from './health.ts'
import type { ConsolePage, ConsoleSection, LivePagePart, PageRequest, RenderedPage } from './page.ts'
import { homePage } from './pages/decide/home.ts'
import { waitingDecisionEvents } from './pages/decide/waiting.ts'
import { startStream, streamCsvPages } from './parts/csv.ts'
import { listQueryFromAddress } from './parts/list.ts'
import { searchSection } from './search.ts'
import { consoleSections, movedSections, tableOfSection } from './sections.ts'

type PageContext = ContextOf<(typeof consoleViewApi)['home']>

interface PageQuery extends Pick<PageRequest, 'path' | 'query'> {
  readonly id?: string
  readonly section?: PageRequest['section']
}

/**
 * Serves the page in its frame, or only the parts that the address names (`?part=waiting,agents`). A refusal
 * of an operation is shown in the frame.
 */
async function show(page: ConsolePage, asked: PageQuery, context: PageContext) {
  const { part: names, ...query } = asked.query
  const parts = names?.split(',')
  const made: Html[] = []
  const read = new Set<string>()
  const request = requestOf(
    { id: '', section: { name: '', title: '' }, ...asked, query: trackReads(query, read) },
    context,
    livePartRenderer(parts, made),
  )
  try {
    const facts = !parts || parts.includes(WAITING_PART) ? readFrameFacts(context) : undefined
    const [shown, waiting, health] = await Promise.all([
      parts?.every(part => part === WAITING_PART) ? emptyPage : page(request),
      facts && waitingPart(request, facts),
      parts ? undefined : describeHealth(request),
    ])
    if (parts)
      return answer(html`<!doctype html><html data-person="${request.actor.id ?? ''}">${made}</html>`)
    assertRead(query, read)
    const refusal = refusalIn(shown, context)
    if (refusal && !acceptsHtml(context)) return refusal
    return answer(
      renderConsoleFrame(shown, request, { health, waiting, hasOtherMode: (await facts)?.hasOtherMode }),
      refusal,
    )
  } catch (error) {
    if (error instanceof RefusedError) return refused(error.refusal, request, context)
    throw error
  }
}

const emptyPage: RenderedPage = { title: '', content: html`` }

const WAITING_PART = 'waiting-count'

const waitingPart = (request: PageRequest, facts: ReturnType<typeof readFrameFacts>): Promise<Html> =>
  request.part({
    id: WAITING_PART,
    events: waitingDecisionEvents,
    async make() {
      const { waiting } = await facts
      return html`${waiting > 0 && html`<span class="badge">${waitingCountText(waiting)}<span class="unseen"> waiting</span></span>`}`
    },
  })

const trackReads = (query: PageRequest['query'], read: Set<string>): PageRequest['query'] =>
  new Proxy(query, {
    get(target, name) {
      read.add(String(name))
      return target[String(name)]
    },
  })

function assertRead(query: PageRequest['query'], read: ReadonlySet<string>): void {
  const unknown = Object.keys(query).find(name => !read.has(name))
  if (unknown !== undefined)
    throw new RefusedError(new Refusal(400, 'invalid_filter', `${unknown}: unknown parameter`))
}

const refusalIn = ({ refusal }: RenderedPage, { refuse }: PageContext): Refusal | undefined =>
  refusal && refuse(codeOf(refusal), refusal.message)

const missingPage: ConsolePage = async () => {
  throw new RefusedError(
    new Refusal(404, 'page_not_found', 'The console has no such page. It starts at /console.'),
  )
}

const HTML = 'text/html; charset=utf-8'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

function answer(content: Html, refusal?: Refusal) {
  const page = { type: HTML, content: content.text, ...(refusal ? { refusal } : {}) }
  return withHeaders<ResponseFile>(page, {
    'Content-Language': 'en',
    'Content-Security-Policy': POLICY,
    Vary: 'Accept',
  })
}

const codes = {
  400: 'invalid_filter',
  403: 'page_not_allowed',
  404: 'page_not_found',
} as const

const codeOf = ({ status }: Refusal): (typeof codes)[keyof typeof codes] =>
  codes[status as keyof typeof codes] ?? 'invalid_filter'

/** Browsers get the refusal as a page, programs as JSON. */
function refused(given: Refusal, request: PageRequest, context: PageContext) {
  const refusal = context.refuse(codeOf(given), given.message)
  if (!acceptsHtml(context)) return refusal
  return answer(renderConsoleFrame(pageOf(refusal), request), refusal)
}

function pageOf({ status, message }: Refusal): RenderedPage {
  const title = status === 404 ? 'Not found' : 'Not possible'
  return { title, content: html`<h1>${title}</h1><p class="lead">${message}</p>` }
}

const acceptsHtml = ({ headers }: PageContext): boolean => headers.accept?.includes('text/html') === true

const livePartRenderer =
  (parts: readonly string[] | undefined, made: Html[]) =>
  async ({ id, events, about, make }: LivePagePart): Promise<Html> => {
    if (parts && !parts.includes(id)) return html``
    const content = html`<live-part id="${id}" data-events="${events.join(' ')}"${about !== undefined && html` data-about="${about}"`}>${await make()}</live-part>`
    made.push(content)
    return content
  }

function requestOf(
  asked: Pick<PageRequest, 'path' | 'id' | 'query' | 'section'>,
  { callOperation: ask, actor, tenant, now, service }: PageContext,
  part: PageRequest['part'],
): PageRequest {
  const up = '../'.repeat(asked.path.split('/').length - 1) || './'
  const may = ({ callers, scope }: AnyOperation) =>
    callers.includes('console') && (scope === undefined || actor.scopes.has(scope))
  return { ...asked, ask, actor, tenant, now, service, to: path => up + path, may, part }
}

/** The search shows the other sections, so it is not one of them. */
const sections: Readonly<Record<string, ConsoleSection>> = { ...consoleSections, search: searchSection }

const consoleView = bindHandlers(consoleViewApi, {
  home: ({ query }, context) => show(homePage, { path: 'console', query }, context),

  section: ({ params: { section: name }, query }, context) => {
    const moved = Object.hasOwn(movedSections, name) ? movedSections[name] : undefined
    if (moved !== undefined)
      return withHeaders(context.refuse('page_moved'), { Location: `${moved}${queryText(query)}` })
    const { list = missingPage, title = '' } = sections[name] ?? {}
    return show(list, { path: `console/${name}`, section: { name, title }, query }, context)
  },

  record: ({ params: { section: name, id }, query }, context) => {
    const { record = missingPage, title = '' } = consoleSections[name] ?? {}
    return show(record, { path: `console/${name}/${id}`, section: { name, title }, id, query }, context)
  },

  async table({ params, query }, { callOperation: ask, refuse }) {
    const operation = tableOfSection(params.section)
    if (!operation) return refuse('page_not_found')
    try {
      if (operation.csv)
        return (await ask(csvFormOf(operation), listQueryFromAddress(operation, query))) as CsvFile
      const content = await startStream(streamCsvPages(ask, operation, query))
      return { type: 'text/csv; charset=utf-8', name: `${params.section}.csv`, content }
    } catch (error) {
      if (error instanceof RefusedError) return refuse(codeOf(error.refusal), error.message)
      throw error
    }
  },

  async asset({ params }, { refuse }) {
    return (await consoleAsset(params.asset)) ?? refuse('asset_not_found')
  },
})

const queryText = (query: Readonly<Record<string, string>>): string =>
  Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : ''

export const consoleViewArea = area(
  'The console',
  'The web console of owners, approvers and viewers.',
  consoleView,
)
