import { auditApi } from '../../../../compliance/audit/index.ts'
import { deletionApi, exportApi } from '../../../../compliance/gdpr/index.ts'
import { agentTokensApi } from '../../../../control/agent-tokens/index.ts'
import { delegationsApi } from '../../../../control/delegations/index.ts'
import { mandatesApi } from '../../../../control/mandates/index.ts'
import { runsApi } from '../../../../control/runs/index.ts'
import { eventsApi } from '../../../../delivery/events/index.ts'
import { deliveriesApi, webhooksApi } from '../../../../delivery/webhooks/index.ts'
import { consoleApi } from '../../../../identity/console/index.ts'
import { customersApi } from '../../../../identity/customers/index.ts'
import { keysApi } from '../../../../identity/keys/index.ts'
import { kycApi } from '../../../../identity/kyc/index.ts'
import { onboardingApi } from '../../../../identity/onboarding/index.ts'
import { passkeysApi } from '../../../../identity/passkeys/index.ts'
import { peopleApi } from '../../../../identity/people/index.ts'
import { sessionsApi } from '../../../../identity/sessions/index.ts'
import type { AnyOperation } from '../../../../kernel/contract/operation.ts'
import type { Page, Section } from '../../page.ts'
import { auditPage, requestPage } from './audit.ts'
import { devicePage, devicesPage, passkeysPage, sessionsPage } from './credentials.ts'
import { deletionPage, deletionsPage, exportsPage } from './data-protection.ts'
import { delegationPage, delegationsPage } from './delegations.ts'
import { deliveriesPage, deliveryPage } from './deliveries.ts'
import { eventPage, eventsPage } from './events.ts'
import { onboardingPage, onboardingsPage, submissionPage, submissionsPage } from './identity.ts'
import { keyPage, keysPage, tokensPage } from './keys.ts'
import { mandatePage, mandatesPage } from './mandates.ts'
import { peoplePage, personPage } from './people.ts'
import { runPage, runsPage } from './runs.ts'
import { settingsPage } from './settings.ts'
import { webhookPage, webhooksPage } from './webhooks.ts'

/** A section whose list, and whose CSV, is that of an operation. */
const listed = (title: string, operation: AnyOperation, list: Page, record?: Page): Section => ({
  title,
  needs: operation,
  list,
  table: operation,
  ...(record ? { record } : {}),
})

/** What agents were allowed beside their policies. */
export const allowances: Readonly<Record<string, Section>> = {
  mandates: listed('Mandates', mandatesApi.list, mandatesPage, mandatePage),
  delegations: listed('Delegations', delegationsApi.list, delegationsPage, delegationPage),
  runs: listed('Runs', runsApi.list, runsPage, runPage),
}

/** What has happened, and who is told of it. */
export const happenings: Readonly<Record<string, Section>> = {
  events: listed('Events', eventsApi.list, eventsPage, eventPage),
  webhooks: listed('Webhooks', webhooksApi.list, webhooksPage, webhookPage),
  deliveries: listed('Deliveries', deliveriesApi.allDeliveries, deliveriesPage, deliveryPage),
  audit: listed('Audit', auditApi.list, auditPage),
}

export const account: Readonly<Record<string, Section>> = {
  people: listed('People', peopleApi.list, peoplePage, personPage),
  keys: listed('Keys', keysApi.list, keysPage, keyPage),
  deletions: listed('Data protection', deletionApi.listDeletions, deletionsPage, deletionPage),
  settings: { title: 'Settings', needs: customersApi.me, list: settingsPage },
}

/** Sections to which other pages lead. */
export const accountDetails: Readonly<Record<string, Section>> = {
  passkeys: listed('Passkeys', passkeysApi.list, passkeysPage),
  'sign-ins': listed('Sign-ins', consoleApi.sessions, sessionsPage),
  devices: listed('Devices', sessionsApi.list, devicesPage, devicePage),
  tokens: listed('Agents’ tokens', agentTokensApi.listAll, tokensPage),
  identity: listed('Identity', kycApi.list, submissionsPage, submissionPage),
  onboarding: listed('Onboarding', onboardingApi.list, onboardingsPage, onboardingPage),
  exports: listed('Archives', exportApi.listExports, exportsPage),
  causes: { title: 'Requests', needs: auditApi.list, list: auditPage, record: requestPage },
}
