import { customersApi } from '../../../../identity/customers/index.ts'
import type { Section } from '../../page.ts'
import { auditPage, requestPage } from './audit.ts'
import { consentPage } from './consent.ts'
import { devicePage, devicesPage, passkeysPage, sessionsPage } from './credentials.ts'
import { deletionPage, deletionsPage, exportPage, exportsPage } from './data-protection.ts'
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

/** What agents were allowed beside their policies. */
export const allowances: Readonly<Record<string, Section>> = {
  mandates: { ...mandatesPage, record: mandatePage },
  delegations: { ...delegationsPage, record: delegationPage },
  runs: { ...runsPage, record: runPage },
}

/** What has happened, and who is told of it. */
export const happenings: Readonly<Record<string, Section>> = {
  events: { ...eventsPage, record: eventPage },
  webhooks: { ...webhooksPage, record: webhookPage },
  deliveries: { ...deliveriesPage, record: deliveryPage },
  audit: auditPage,
}

export const account: Readonly<Record<string, Section>> = {
  people: { ...peoplePage, record: personPage },
  keys: { ...keysPage, record: keyPage },
  deletions: { ...deletionsPage, record: deletionPage },
  settings: { title: 'Settings', needs: customersApi.me, list: settingsPage },
}

/** Sections to which other pages lead. */
export const accountDetails: Readonly<Record<string, Section>> = {
  passkeys: passkeysPage,
  'sign-ins': sessionsPage,
  devices: { ...devicesPage, record: devicePage },
  tokens: tokensPage,
  identity: { ...submissionsPage, record: submissionPage },
  onboarding: { ...onboardingsPage, record: onboardingPage },
  consent: consentPage,
  exports: { ...exportsPage, record: exportPage },
  causes: { ...auditPage, record: requestPage },
}
