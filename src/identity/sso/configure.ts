import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { calculateJwkThumbprint, exportJWK } from 'jose'
import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import { type ContextOf, externalCall, type HandlerOf } from '../../kernel/contract/operation.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { quoted, type StatedWidening } from '../../statements/index.ts'
import { keysOf } from '../../values/collections.ts'
import { newId } from '../../values/ids.ts'
import { type HoldApproverChange, holdUntilApproved, policiesConcerned } from '../approvals/index.ts'
import { endConsoleSessions } from '../console/index.ts'
import {
  consumeOwnerConsent,
  exceedsKeyScopes,
  type OwnerConsent,
  verifyOwnerConsent,
} from '../people/index.ts'
import { ssoApi } from './api.ts'
import { type DiscoveryFailure, discoverProvider } from './openid.ts'
import {
  MAX_PROVIDERS,
  SsoProvider,
  ssoProviderEvent,
  ssoProviderResponse,
  ssoSecretContext,
} from './provider.ts'
import type { discoveryRefusals } from './schemas.ts'

const makeKeyPair = promisify(generateKeyPair)

/** RSA, which every provider can verify. */
async function newClientKey() {
  const { publicKey, privateKey } = await makeKeyPair('rsa', { modulusLength: 2_048 })
  const jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  return {
    publicKey: { ...jwk, kid, use: 'sig' },
    privateKey: JSON.stringify({ ...(await exportJWK(privateKey)), kid }),
  }
}

const REFUSED_AS: Readonly<Record<DiscoveryFailure, keyof typeof discoveryRefusals>> = {
  busy: 'provider_busy',
  silent: 'provider_silent',
  other_issuer: 'issuer_mismatch',
  unusable: 'issuer_refused',
}

export const discoveryRefusal = (failure: DiscoveryFailure): keyof typeof discoveryRefusals =>
  REFUSED_AS[failure]

/** An owner signs who may sign in, and by which groups they have a role. */
const signedMembers = ({
  issuer,
  clientId,
  groupsClaim,
  ownerGroups,
  approverGroups,
  viewerGroups,
}: Pick<
  SsoProvider,
  'issuer' | 'clientId' | 'groupsClaim' | 'ownerGroups' | 'approverGroups' | 'viewerGroups'
>) => ({ issuer, clientId, groupsClaim, ownerGroups, approverGroups, viewerGroups })

type Creating = ContextOf<typeof ssoApi.create>

const seal = (secret: string, providerId: string, { systems }: ReadContext): string =>
  systems.vault.seal(secret, ssoSecretContext(providerId))

export const createSsoProvider = externalCall(ssoApi.create, {
  async reserve({ body: { clientSecret, ...body } }, context) {
    const { tenant } = context
    const id = newId('ssoprovider')
    const sealed = clientSecret === null ? null : seal(clientSecret, id, context)
    return { ...body, id, tenant, clientSecret: sealed }
  },

  async call({ issuer, tenant }, { systems }) {
    const metadata = await discoverProvider({ issuer, ...tenant }, systems)
    return typeof metadata === 'string' ? { failure: metadata } : newClientKey()
  },

  async record(answer, { webauthnAssertion, tenant: _, ...members }, context) {
    const { em, service, emit, refuse } = context
    if ('failure' in answer) return refuse(discoveryRefusal(answer.failure))
    const consent = await verifyOwnerConsent(webauthnAssertion, context)
    if (typeof consent === 'string') return refuse(consent)
    const blocker = await creationBlocker(consent, members, context)
    if (blocker) return refuse(blocker)
    const { publicKey, privateKey } = answer
    const provider = em.create(SsoProvider, {
      ...members,
      publicKey,
      privateKey: seal(privateKey, members.id, context),
    })
    emit('sso_provider.created', ssoProviderEvent(provider))
    return ssoProviderResponse(provider, service)
  },

  recover: async (_, { refuse }) => refuse('provider_silent'),
})

async function creationBlocker(
  consent: OwnerConsent,
  members: Parameters<typeof signedMembers>[0],
  context: Creating,
) {
  if (exceedsKeyScopes('owner', consent, context)) return 'scope_not_held'
  const inForce = await policiesConcerned(() => true, context)
  if (consent && members.clientId !== null && inForce.length > 0) return 'client_needs_approvals'
  const [, known] = await Promise.all([lockTenant(context, 'people'), context.em.find(SsoProvider, {})])
  const code = await consumeOwnerConsent(consent, signedMembers(members), context)
  if (code) return code
  if (known.some(({ issuer }) => issuer === members.issuer)) return 'issuer_taken'
  return known.length >= MAX_PROVIDERS ? 'too_many_providers' : undefined
}

export interface ProviderWrite {
  readonly operation: 'sso.update'
  readonly providerId: string
  /** The client's secret is sealed. */
  readonly members: Partial<Pick<SsoProvider, 'name' | 'clientSecret' | keyof typeof stated>>
}

const stated = {
  clientId: 'Client',
  groupsClaim: 'Claim of groups',
  ownerGroups: 'Groups of owners',
  approverGroups: 'Groups of approvers',
  viewerGroups: 'Groups of viewers',
} as const

const valueInWords = (value: string | readonly string[] | null): string =>
  value === null || value.length === 0 ? 'none' : [value].flat().map(quoted).join(', ')

function statedChanges(provider: SsoProvider, { members }: ProviderWrite): StatedWidening[] {
  const of = { of: 'identity provider', id: provider.id, name: provider.issuer } as const
  const next = { ...signedMembers(provider), ...members }
  const configured = keysOf(stated).flatMap(member => {
    const [from, to] = [valueInWords(provider[member]), valueInWords(next[member])]
    return from === to ? [] : [{ ...of, field: stated[member], from, to }]
  })
  return members.clientSecret === undefined
    ? configured
    : [...configured, { ...of, field: 'Client secret', from: 'the one before', to: 'another one' }]
}

/** By its groups the provider says who is an owner or approver, so each step is concerned. */
export async function reconfigureProvider(
  write: ProviderWrite,
  hold: HoldApproverChange,
  context: WriteContext<Pick<(typeof ssoApi.update)['emits'], 'sso_provider.updated'>>,
) {
  const { em, emit } = context
  await lockTenant(context, 'people')
  const provider = await em.findOne(SsoProvider, { id: write.providerId }, FOR_UPDATE)
  if (!provider) return 'provider_not_found'
  const changes = statedChanges(provider, write)
  const held = await hold({ concerns: () => changes.length > 0, changes })
  if (held) return held
  const { members } = write
  const changed = keysOf(members).filter(
    member =>
      member === 'clientSecret' || JSON.stringify(members[member]) !== JSON.stringify(provider[member]),
  )
  Object.assign(provider, members)
  if (changed.length > 0) emit('sso_provider.updated', { ...ssoProviderEvent(provider), changed })
  return provider
}

export const updateSsoProvider: HandlerOf<typeof ssoApi.update> = async ({ params, body }, context) => {
  const { webauthnAssertion, clientSecret, ...members } = body
  const { em, service, refuse } = context
  const isOnlyName = keysOf(members).every(member => member === 'name') && clientSecret === undefined
  const [known, consent] = await Promise.all([
    em.findOne(SsoProvider, { id: params.id }),
    isOnlyName ? null : verifyOwnerConsent(webauthnAssertion, context),
  ])
  if (!known) return refuse('provider_not_found')
  if (typeof consent === 'string') return refuse(consent)
  if (!isOnlyName && exceedsKeyScopes('owner', consent, context)) return refuse('scope_not_held')
  const sealed = clientSecret && seal(clientSecret, known.id, context)
  const write: ProviderWrite = {
    operation: 'sso.update',
    providerId: known.id,
    members: definedOnly({ ...members, clientSecret: sealed }),
  }
  const { name: _, ...configuration } = definedOnly(members)
  const hold: HoldApproverChange = async change => {
    const provider = await em.findOneOrFail(SsoProvider, { id: known.id })
    const code = await consumeOwnerConsent(consent, { ...signedMembers(provider), ...configuration }, context)
    return code ? refuse(code) : holdUntilApproved(write, consent?.person.id ?? null, context)(change)
  }
  const done = await reconfigureProvider(write, hold, context)
  if (typeof done === 'string') return refuse(done)
  return done instanceof SsoProvider ? ssoProviderResponse(done, service) : done
}

/** Waits for sign-ins that are being recorded, so that their sessions end, too. */
export const removeSsoProvider: HandlerOf<typeof ssoApi.remove> = async ({ params }, context) => {
  const { em, emit, refuse } = context
  const provider = await em.findOne(SsoProvider, { id: params.id }, FOR_UPDATE)
  if (!provider) return refuse('provider_not_found')
  await endConsoleSessions({ ssoProviderId: provider.id }, 'sso', context)
  em.remove(provider)
  emit('sso_provider.removed', ssoProviderEvent(provider))
}
