import { beneficiariesApi } from '../../../../money/beneficiaries/index.ts'
import { html } from '../../../../web/html.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, knownFacts } from '../../parts/table.ts'
import { text, time, words } from '../../parts/text.ts'

const events = ['beneficiary.*']
const members = ['name', 'iban', 'bic', 'country', 'email']
const labels = { iban: 'IBAN', bic: 'BIC', name: 'Name, as the bank knows it', email: 'E-mail' }

interface Verification {
  readonly result: string
  readonly suggestedName: string | null
  readonly at: string
}

const verified = (verification: Verification | null) =>
  verification
    ? html`${words(verification.result)}${verification.suggestedName && html`: ${text(verification.suggestedName, 80)}`}`
    : html`<span class="none">not asked</span>`

export const beneficiariesPage = listPage({
  title: 'Beneficiaries',
  lead: 'Whom you pay by SEPA.',
  section: 'beneficiaries',
  operation: beneficiariesApi.list,
  filters: ['iban', 'country', 'verification'],
  labels: { iban: 'IBAN' },
  events,
  empty: {
    words: 'No beneficiary yet: whoever is to be paid by SEPA is added here first.',
    command: 'agentpay beneficiaries create --name "Bäckerei Müller" --iban DE89370400440532013000',
  },
  above: request =>
    operationForm(
      beneficiariesApi.create,
      { members, labels, submit: 'New beneficiary', done: 'go:console/beneficiaries/{id}', fold: true },
      request,
    ),
  columns: [
    { name: 'Name', of: ({ id, name }, request) => recordLink(request, id, text(name, 80)) },
    { name: 'IBAN', of: ({ iban }) => html`<code>${iban}</code>` },
    { name: 'Country', of: ({ country }) => country },
    { name: 'Their bank says', of: ({ verification }) => verified(verification) },
    { name: 'Since', of: ({ createdAt }) => time(createdAt) },
  ],
})

export const beneficiaryPage = recordPage({
  section: 'beneficiaries',
  list: 'Beneficiaries',
  kind: 'Beneficiary',
  operation: beneficiariesApi.get,
  command: 'beneficiaries get',
  events,
  name: ({ name }) => text(name, 140),
  title: ({ name }) => name,
  body(beneficiary, request) {
    const { id, verification, duplicateOf, name, sepaName } = beneficiary
    const params = { id }
    return html`${box(
      'Account',
      knownFacts([
        ['IBAN', html`<code>${beneficiary.iban}</code>`],
        ['BIC', text(beneficiary.bic)],
        ['In SEPA messages', text(sepaName)],
        ['Country', beneficiary.country],
        ['E-mail', text(beneficiary.email)],
        ['Their bank says', html`${verified(verification)} ${verification && time(verification.at)}`],
        ['Same IBAN as', recordLink(request, duplicateOf)],
      ]),
      html`<p><a href="${request.to(`console/transfers?beneficiaryId=${id}`)}">Transfers to ${text(name, 60)}</a></p>`,
    )}
<div class="actions">${operationForm(beneficiariesApi.verify, { params, submit: 'Ask their bank about the name', tone: 'main' }, request)}
${operationForm(beneficiariesApi.update, { params, members, labels, values: { ...beneficiary }, submit: 'Change', fold: true }, request)}
${operationForm(beneficiariesApi.delete, { params, submit: 'Delete', tone: 'against', confirm: `Delete ${name}? Transfers that were made keep it.`, done: 'go:console/beneficiaries' }, request)}</div>`
  },
})
