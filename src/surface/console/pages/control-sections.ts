import type { Section } from '../page.ts'
import { agentPage, agentsPage } from './agents.ts'
import { policiesPage, policyPage, presetsPage } from './policies.ts'

export const control: Readonly<Record<string, Section>> = {
  agents: { ...agentsPage, record: agentPage },
  policies: { ...policiesPage, record: policyPage },
}

export const controlDetails: Readonly<Record<string, Section>> = { presets: presetsPage }
