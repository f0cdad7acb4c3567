import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { File } from '../../kernel/contract/file.ts'
import { type AnyOperation, implement } from '../../kernel/contract/operation.ts'
import { type Refusal, Refused, withHeaders } from '../../kernel/contract/problem.ts'
import { type Html, html } from '../../web/html.ts'
import { consoleViewApi } from './api.ts'
import { assetFile } from './assets.ts'
import { frame } from './frame.ts'
import { healthInWords } from './health.ts'
import type { LivePart, Page, PageRequest, Shown } from './page.ts'
import { homePage } from './pages/home.ts'
import { csvOf } from './parts/csv.ts'
import { navigation, sections } from './sections.ts'

const HTML = 'text/html; charset=utf-8'

/** Scripts, styles and pictures of ours, calls of ours, and nothing else. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

function answer(content: Html, refusal?: Refusal) {
  const page = { type: HTML, content: content.text, ...(refusal ? { refusal } : {}) }
  return withHeaders<File>(page, {
    'Content-Language': 'en',
    'Content-Security-Policy': POLICY,
    Vary: 'Accept',
  })
}

interface Asked {
  /** Below the root: `console/agents`. */
  readonly path: string
  readonly id?: string
  readonly query: Readonly<Record<string, string>>
}

/** The page in its frame; only some of its live parts where `part` names them; and what is refused in its frame, too. */
async function show(page: Page, { path, id = '', query: { part, ...query } }: Asked, context: Context) {
  const parts = part?.split(',')
  const made: Html[] = []
  const request = requestOf({ path, id, query }, context, live(parts, made))
  try {
    const shown = await page(request)
    if (parts) return answer(html`${made}`)
    return answer(frame(shown, navigation, request, await healthInWords(request)))
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return refused(error.refusal, request, context)
  }
}

function refused(refusal: Refusal, request: PageRequest, { headers }: Context) {
  if (!headers.accept?.includes('text/html')) return refusal
  return answer(frame(refusalPage(refusal), navigation, request, undefined), refusal)
}

const refusalPage = ({ status, message }: Refusal): Shown => ({
  title: status === 404 ? 'Not found' : 'Not possible',
  content: html`<h1>${status === 404 ? 'Not found' : 'Not possible'}</h1><p class="lead">${message}</p>`,
})

/** Makes the live parts of a page: all of them, or those that are asked for. */
const live =
  (parts: readonly string[] | undefined, made: Html[]) =>
  async ({ id, events, about, make }: LivePart): Promise<Html> => {
    if (parts && !parts.includes(id)) return html``
    const content = html`<live-part id="${id}" data-events="${events.join(' ')}"${about !== undefined && html` data-about="${about}"`}>${await make()}</live-part>`
    made.push(content)
    return content
  }

function requestOf(
  asked: Pick<PageRequest, 'path' | 'id' | 'query'>,
  { ask, actor, tenant, now, ports }: Context,
  part: PageRequest['part'],
): PageRequest {
  const up = '../'.repeat(asked.path.split('/').length - 1) || './'
  const may = ({ callers, scope }: AnyOperation) =>
    callers.includes('console') && (scope === undefined || actor.scopes.has(scope))
  return { ...asked, ask, actor, tenant, now, ports, to: path => up + path, may, part }
}

const queryOf = (query: object) => query as Readonly<Record<string, string>>

const consoleView = implement(consoleViewApi, {
  home: ({ query }, context) => show(homePage, { path: 'console', query }, context),

  async section({ params, query }, context) {
    const found = sections[params.section]
    if (!found)
      return refused(
        context.refuse('page_not_found'),
        requestOf({ path: 'console/x', id: '', query }, context, live([], [])),
        context,
      )
    return show(found.list, { path: `console/${params.section}`, query }, context)
  },

  async record({ params: { section, id }, query }, context) {
    const found = sections[section]?.record
    if (!found)
      return refused(
        context.refuse('page_not_found'),
        requestOf({ path: 'console/x/x', id, query }, context, live([], [])),
        context,
      )
    return show(found, { path: `console/${section}/${id}`, id, query }, context)
  },

  async table({ params, query }, { ask, refuse }) {
    const operation = sections[params.section]?.table
    if (!operation) return refuse('page_not_found')
    return {
      type: 'text/csv; charset=utf-8',
      name: `${params.section}.csv`,
      content: csvOf(ask, operation, queryOf(query)),
    }
  },

  async asset({ params }, { refuse }) {
    return (await assetFile(params.asset)) ?? refuse('asset_not_found')
  },
})

export const consoleViewArea = area(
  'Console',
  'Where owners and approvers look and decide, in the browser.',
  consoleView,
)
