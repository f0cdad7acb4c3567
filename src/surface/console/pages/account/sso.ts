import { ssoApi } from '../../../../identity/sso/index.ts'
import { html } from '../../../../web/html.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderStatus, renderText } from '../../parts/text.ts'

const labels = {
  name: 'Name on the sign-in page',
  issuer: 'Issuer',
  clientId: 'Client ID',
  clientSecret: 'Client secret (empty: a private key)',
  groupsClaim: 'Claim with the groups',
  ownerGroups: 'Groups of owners, one per line',
  approverGroups: 'Groups of approvers, one per line',
  viewerGroups: 'Groups of viewers, one per line',
  clientAuthentication: 'Client authentication',
  signInUrl: 'Sign-in link',
  redirectUri: 'Redirect URI',
  jwksUri: 'Public key (JWKS)',
}

const roles = ['groupsClaim', 'ownerGroups', 'approverGroups', 'viewerGroups']

export const ssoSection = consoleSection({
  kind: 'Identity provider',
  title: 'Single sign-on',
  lead: 'People sign in with your identity provider (OpenID Connect). Approving still takes their passkey.',
  list: ssoApi.list,
  get: ssoApi.get,
  columns: [
    'issuer',
    { Status: ({ clientId }) => renderStatus(clientId === null ? 'incomplete' : 'active') },
    { 'Sign-in link': ({ signInUrl }) => html`<code>${renderText(signInUrl, 200)}</code>` },
  ],
  labels,
  events: ['sso_provider.*'],
  empty: 'No identity provider yet. People sign in with their passkeys.',
  call: 'agentpay sso create --name "Example Corp" --issuer https://id.example.com',
  guide: 'sso',
  create: {
    operation: ssoApi.create,
    members: ['name', 'issuer', 'clientId', 'clientSecret', ...roles],
    labels,
    submit: 'Add identity provider',
    success: 'Added. Its page has the redirect URI for your identity provider.',
    done: 'reload',
  },
  actions: [
    { operation: ssoApi.update, members: ['name'], labels, submit: 'Rename' },
    { operation: ssoApi.update, members: ['clientId'], labels, submit: 'Change client ID' },
    { operation: ssoApi.update, members: ['clientSecret'], labels, submit: 'Change client secret' },
    { operation: ssoApi.update, members: roles, labels, submit: 'Change roles' },
    {
      operation: ssoApi.remove,
      submit: 'Remove',
      tone: 'against',
      forRecord: ({ name }) => ({
        confirm: `Remove ${name}? The sessions that it began end at once.`,
      }),
      done: 'go:console/sso',
      success: 'Removed.',
    },
  ],
})
