import { z } from 'zod'
import { Agent } from '../../src/control/agents/index.ts'
import { area } from '../../src/kernel/contract/area.ts'
import type { ReadContext } from '../../src/kernel/contract/context.ts'
import { fileSchema } from '../../src/kernel/contract/file.ts'
import { bindHandlers, get } from '../../src/kernel/contract/operation.ts'
import { withHeaders } from '../../src/kernel/contract/problem.ts'
import { consoleScript, pageScriptTag } from '../../src/surface/console/browser/browser.ts'
import { consolePagesIcon } from '../../src/surface/console-pages/index.ts'
import { type Html, html } from '../../src/web/html.ts'

/** A test page with every element that the console's scripts handle. */
const trialApi = {
  page: get('/console/trial', {
    callers: ['console'],
    summary: 'A page of the tests',
    query: z.strictObject({ part: z.string().optional(), shown: z.string().optional() }),
    http: { headers: { 200: { 'Content-Security-Policy': 'What the page may load.' } } },
    returns: [200, fileSchema('text/html')],
  }),
}

const POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'"

const WAITING = `select id, merchant from intents where owner_id = $1 and status = 'created' order by id desc`

async function agents({ em }: ReadContext): Promise<Html> {
  const found = await em.find(Agent, {}, { orderBy: { id: 'desc' } })
  return html`<live-part id="agents" data-events="agent.*"><h2>Agents</h2><button type="button" data-pause="agents" aria-pressed="false">Pause</button><ul>${found.map(
    ({ id, name, status }) => html`<li id="${id}">${name}: <b>${status}</b>
<form data-operation="POST /agents/{id}/freeze" data-params="${JSON.stringify({ id })}" data-done="part:agents" data-confirm="Freeze ${name}?" data-success="${name} is frozen.">
<label>Reason <input name="reason"></label><button class="against">Freeze ${name}</button></form></li>`,
  )}</ul></live-part>`
}

async function waiting({ sql, tenant }: ReadContext): Promise<Html> {
  const rows = await sql<{ id: string; merchant: string }>(WAITING, [tenant.ownerId])
  return html`<live-part id="waiting" data-events="intent.created intent.approved intent.denied"><h2>Waiting</h2>
<button type="button" data-each="#waiting form[data-challenge]">Approve all</button><ol>${rows.map(
    ({ id, merchant }) => html`<li id="${id}">${merchant}
<form data-operation="POST /intents/{id}/approve" data-params="${JSON.stringify({ id })}" data-challenge="POST /passkeys/intents/{id}/challenge" data-done="part:waiting"><button>Approve</button></form>
<form data-operation="POST /intents/{id}/deny" data-params="${JSON.stringify({ id })}" data-done="part:waiting"><label>Against it <input name="reason"></label><button>Deny</button></form></li>`,
  )}</ol></live-part>`
}

const asked = (shown: string): Html =>
  html`<live-part id="asked"><p>Shown: ${shown}</p></live-part>
<form data-part="asked"><label>Show <input name="shown"></label><button>Look</button></form>`

const forms = html`
<form id="new-agent" data-operation="POST /agents" data-success="It is there." data-done="part:agents">
<label>Name <input name="name"></label><label>Outside id <input name="externalId" data-empty="null"></label><button>Create</button></form>
<form id="hook" data-operation="POST /webhooks" data-secret="secret" data-done="go:console/trial?shown={id}" data-success="It is subscribed.">
<label>Address <input name="url"></label><label>Events <textarea name="events" data-type="list"></textarea></label><button>Subscribe</button></form>
<form id="rules"><label>At most <input type="number" name="maxTransactionEuros" value="50"></label><input type="hidden" name="name" value="Trial"></form>
<form id="attempt" data-simulate data-rules="rules"><label>Amount <input type="number" name="amountEuros"></label><label>Merchant <input name="merchant" value="Bookshop"></label><div data-result role="status"></div></form>
<p><time datetime="2026-11-20T09:30:00.000Z">20 Nov</time> <button type="button" data-copy="intent_1">Copy the id</button></p>
<section data-push><p data-push-state></p><form data-action="push-on"><input type="checkbox" name="events" value="intent.created" checked><button>Ring here</button></form>
<button type="button" data-action="push-off">Silence</button><button type="button" data-action="push-test">Try</button></section>`

/** The page is one level below the root of the service. */
const ROOT = { to: (path: string): string => `../${path}` }

const trial = bindHandlers(trialApi, {
  async page({ query }, context) {
    const { actor } = context
    const content = html`<!doctype html><html lang="en" data-root="../" data-person="${actor.id ?? ''}"><head><title>Trial</title>
<meta charset="utf-8"><link rel="icon" href="../login/assets/${consolePagesIcon.name}">
<script type="module" src="scripts/${consoleScript.name}"></script>${pageScriptTag(ROOT, 'inbox')}${pageScriptTag(ROOT, 'policyForm')}${pageScriptTag(ROOT, 'push')}</head>
<body><main><p id="news" role="status"></p><p id="trouble" role="alert"></p><p id="stream" role="status"></p>
${await agents(context)}${await waiting(context)}${asked(query.shown ?? 'nothing')}${query.part === undefined && forms}
</main></body></html>`
    return withHeaders({ type: 'text/html', content: content.text }, { 'Content-Security-Policy': POLICY })
  },
})

export const trialArea = area('Trial', 'A page of the tests.', trial)
