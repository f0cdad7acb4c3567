import { policiesApi, policySimulationApi } from '../../../control/policies/index.ts'
import { days } from '../../../values/clock.ts'
import { type Content, type Html, html } from '../../../web/html.ts'
import { ownScript } from '../browser/browser.ts'
import type { Page, PageRequest } from '../page.ts'
import { operationForm } from '../parts/form.ts'
import { recordLink } from '../parts/links.ts'
import { readNames } from '../parts/names.ts'
import { backTo, recordHead } from '../parts/record-page.ts'
import { section } from '../parts/section.ts'
import { box, table } from '../parts/table.ts'
import { euros, label, plainEuros, text } from '../parts/text.ts'

const changes = ['policy.*']

const labels = {
  name: 'Name',
  maxTransactionEuros: 'A payment, at most €',
  dailyLimitEuros: 'A day, at most €',
  monthlyLimitEuros: 'A month, at most €',
  autoApproveLimitEuros: 'Without a person, up to €',
  merchantAllowlist: 'Only these merchants, one a line',
  merchantBlocklist: 'Never these merchants',
  allowedCountries: 'Only these countries',
  mccCategories: 'Only these groups of categories',
  allowedMccs: 'Only these categories (MCC)',
  blockedMccs: 'Never these categories (MCC)',
  attestationWindowMinutes: 'A passkey counts for, in minutes',
  cooldownMinutes: 'Between two payments, in minutes',
  activeHoursStart: 'From hour (UTC)',
  activeHoursEnd: 'Until hour (UTC)',
  maxUsageCount: 'Payments in all',
  amountTolerancePercent: 'Charged above the intent, at most %',
  expiresAfterMinutes: 'The policy ends after, in minutes',
  expirationAction: 'What happens at its end',
  lockToFirstMerchant: 'Only the first merchant that was paid',
  requireIntent: 'Every payment needs an intent',
  requireAttestation: 'Every payment needs a passkey',
}

export const policies = section({
  kind: 'Policy',
  title: 'Policies',
  lead: 'Rules by which agents spend. An agent has a copy of its own; a template may be applied to all that came from it.',
  list: policiesApi.list,
  columns: [
    { Agent: ({ agentId }, request) => (agentId ? recordLink(request, agentId) : 'template') },
    'maxTransactionEuros',
    'dailyLimitEuros',
    'monthlyLimitEuros',
    'autoApproveLimitEuros',
  ],
  name: ({ name }) => name,
  events: changes,
  empty: 'No policies yet. Begin with a preset.',
  call: 'agentpay policies presets',
  create: {
    operation: policiesApi.create,
    members: ['name', 'maxTransactionEuros', 'dailyLimitEuros', 'monthlyLimitEuros', 'autoApproveLimitEuros'],
    labels,
    submit: 'New template',
  },
  above: ({ to }) => html`<a class="button" href="${to('console/presets')}">Presets</a>`,
})

export const presets = section({
  kind: 'Preset',
  lead: 'Complete policies to begin with. An agent can be given one as it is.',
  list: policiesApi.presets,
  columns: [{ Preset: ({ id }) => html`<code>${id}</code>` }, 'name', 'summary'],
  events: [],
})

export const policyPage: Page = async request => {
  const { ask, id, part } = request
  const params = { id }
  const [policy] = await Promise.all([ask(policiesApi.get, { params }), readNames(request, 'agents')])
  return {
    title: policy.name,
    content: html`${backTo(request, 'policies', 'Policies')}
${await part({
  id: 'policy',
  events: changes,
  about: id,
  make: () => html`${recordHead({ name: text(policy.name, 80), kind: policy.agentId ? 'Policy of an agent' : 'Policy template', operation: policiesApi.get, command: 'policies get' }, request)}
<p class="lead">${
    policy.agentId
      ? html`Of ${recordLink(request, policy.agentId)}${policy.templateId !== null && html`, from ${recordLink(request, policy.templateId)}`}${policy.overrides.length > 0 && `. Set for this agent alone: ${policy.overrides.map(label).join(', ')}`}`
      : 'A template: agents that came from it keep their copies until it is applied.'
  }</p>`,
})}
${box('Rules', rulesOf(policy, request), simulation(request), policy.agentId === null && operationForm(request, policiesApi.apply, { params, submit: 'Apply to its agents', confirm: 'Give every agent that came from this template the rules that it has now?', success: 'Applied.' }))}
${await backtestPart(request)}
${await part({ id: 'probe', events: changes, about: id, make: () => probeOf(request) })}
${await part({ id: 'versions', events: changes, about: id, make: () => versionsOf(request) })}
${policy.agentId === null && operationForm(request, policiesApi.delete, { params, submit: 'Delete', tone: 'against', confirm: `Delete ${policy.name}? Agents that got a copy keep it.`, done: 'go:console/policies', fold: true })}`,
  }
}

const RULES_FORM = 'rules'

function rulesOf(policy: { readonly id: string; readonly version: number }, request: PageRequest): Content {
  const options = {
    id: RULES_FORM,
    params: { id: policy.id },
    members: Object.keys(labels),
    values: { ...policy },
    given: { version: policy.version },
    labels,
    isGrid: true,
    submit: 'Save',
    success: 'Saved.',
    tone: 'main',
  } as const
  return operationForm(request, policiesApi.replace, options)
}

const simulation = (request: PageRequest): Html => html`<h3>Try a payment</h3>
${ownScript(request, 'policyForm')}
<form class="fields" method="dialog" data-simulate data-rules="${RULES_FORM}">
<p class="field"><label for="try-amount">Amount in euros</label><input id="try-amount" name="amountEuros" type="number" step="0.01" min="0.01"></p>
<p class="field"><label for="try-merchant">Merchant</label><input id="try-merchant" name="merchant" maxlength="200" value="shop.example"></p>
<p class="field"><label for="try-country">Country</label><input id="try-country" name="country" maxlength="2"></p>
<p class="field"><label for="try-mcc">Category (MCC)</label><input id="try-mcc" name="mcc" maxlength="4"></p>
<div data-result aria-live="polite"></div>
</form>`

async function probeOf({ ask, id }: PageRequest): Promise<Html> {
  const { rules, warnings } = await ask(policySimulationApi.probe, { params: { id } })
  return html`${warnings.length > 0 && box('Rules that contradict each other', html`<ul>${warnings.map(({ message }) => html`<li>${message}</li>`)}</ul>`)}
<details class="fold"><summary>Where each rule begins</summary>
<ul>${rules.map(({ rule, stops, passes }) => html`<li><strong>${label(rule)}</strong>: ${stops ? `stops ${plainEuros(stops.situation.amountEuros)} (${stops.message})` : 'stops nothing'}; ${passes ? `lets ${plainEuros(passes.situation.amountEuros)} through` : 'lets nothing through'}</li>`)}</ul></details>`
}

async function versionsOf(request: PageRequest): Promise<Html> {
  const { data } = await request.ask(policiesApi.versions, {
    params: { id: request.id },
    query: { limit: 20 },
  })
  return box(
    'Versions',
    table(request, 'Versions of the policy', data, {
      Version: 'version',
      Changes: ({ changes }) =>
        changes.length === 0
          ? 'the first one'
          : html`<ul>${changes.map(change => html`<li>${text(change.text, 300)}</li>`)}</ul>`,
      By: ({ changedByType, changedById }) =>
        html`${changedByType} ${changedById !== null && html`<code>${changedById}</code>`}`,
      At: 'createdAt',
    }),
  )
}

const DAYS = 30

const backtestPart = async (
  request: PageRequest,
): Promise<Html> => html`<form data-part="backtest"><input type="hidden" name="backtest" value="run"><button type="submit">Replay the last ${DAYS} days</button></form>
${await request.part({ id: 'backtest', events: [], make: () => (request.query.backtest === 'run' ? replay(request) : html``) })}`

interface Sum {
  readonly count: number
  readonly amountEuros: number
}

const sum = ({ count, amountEuros }: Sum): Html => html`${count} · ${euros(amountEuros)}`

async function replay(request: PageRequest): Promise<Html> {
  const { ask, id, now } = request
  const body = { from: new Date(now.getTime() - days(DAYS)).toISOString(), to: now.toISOString() }
  const result = await ask(policySimulationApi.backtest, { params: { id }, body })
  const kinds = [
    ['The same', result.same],
    ['Denied now', result.newlyDenied],
    ['Allowed now', result.newlyAllowed],
    ['Left to a person now', result.newlyToPerson],
    ['Decided by a person then', result.decidedBefore],
  ] as const
  return box(
    `The last ${DAYS} days under this policy`,
    table(request, 'Decisions replayed', kinds, {
      Decisions: ([kind]) => kind,
      'Number and amount': { figure: ([, figures]) => sum(figures) },
    }),
    result.byRule.length > 0 &&
      table(request, 'Differences by rule', result.byRule, {
        'By the rule': ({ rule }) => label(rule),
        Denied: { figure: ({ newlyDenied }) => sum(newlyDenied) },
        Allowed: { figure: ({ newlyAllowed }) => sum(newlyAllowed) },
        'To a person': { figure: ({ newlyToPerson }) => sum(newlyToPerson) },
      }),
    result.examples.length > 0 &&
      table(request, 'Examples of differences', result.examples.slice(0, 20), {
        At: 'at',
        What: ({ subjectId, merchant }) => recordLink(request, subjectId, text(merchant, 60)),
        Amount: 'amountEuros',
        Was: 'was',
        'Would be': ({ now: would, reason }) => html`${would}: ${text(reason, 200)}`,
      }),
  )
}
