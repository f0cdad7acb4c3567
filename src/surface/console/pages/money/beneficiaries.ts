import { beneficiariesApi } from '../../../../money/beneficiaries/index.ts'
import { html } from '../../../../web/html.ts'
import type { AnswerOf } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, knownFacts } from '../../parts/table.ts'
import { text, time, words } from '../../parts/text.ts'

const events = ['beneficiary.*']
const members = ['name', 'iban', 'bic', 'country', 'email']
const labels = { iban: 'IBAN', bic: 'BIC', name: 'Name, as the bank knows it', email: 'E-mail' }

type Verification = NonNullable<AnswerOf<typeof beneficiariesApi.get>['verification']>

const verified = (verification: Verification | null) =>
  verification
    ? html`${words(verification.result)}${verification.suggestedName && html`: ${text(verification.suggestedName, 80)}`}`
    : html`<span class="none">not asked</span>`

export const beneficiariesPage = listPage({
  title: 'Beneficiaries',
  lead: 'Whom you pay by SEPA.',
  operation: beneficiariesApi.list,
  filters: ['iban', 'country', 'verification'],
  labels: { iban: 'IBAN' },
  events,
  empty: {
    words: 'No beneficiary yet: whoever is to be paid by SEPA is added here first.',
    command: 'agentpay beneficiaries create --name "Bäckerei Müller" --iban DE89370400440532013000',
  },
  above: request =>
    operationForm(request, beneficiariesApi.create, {
      members,
      labels,
      submit: 'New beneficiary',
      done: 'go:console/beneficiaries/{id}',
      fold: true,
    }),
  columns: {
    Name: ({ id, name }, request) => recordLink(request, id, text(name, 80)),
    IBAN: ({ iban }) => html`<code>${iban}</code>`,
    Country: 'country',
    'Their bank says': ({ verification }) => verified(verification),
    Since: 'createdAt',
  },
})

export const beneficiaryPage = recordPage({
  kind: 'Beneficiary',
  operation: beneficiariesApi.get,
  events,
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
<div class="actions">${operationForm(request, beneficiariesApi.verify, { params, submit: 'Ask their bank about the name', tone: 'main' })}
${operationForm(request, beneficiariesApi.update, { params, members, labels, values: { ...beneficiary }, submit: 'Change', fold: true })}
${operationForm(request, beneficiariesApi.delete, { params, submit: 'Delete', tone: 'against', confirm: `Delete ${name}? Transfers that were made keep it.`, done: 'go:console/beneficiaries' })}</div>`
  },
})
