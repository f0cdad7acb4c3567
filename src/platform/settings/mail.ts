import { createPrivateKey } from 'node:crypto'
import { z } from 'zod'
import { documentSetting, InvalidSettingError, patternSetting } from './setting.ts'

const HOST = /^(?=.{1,253}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/i

export const mailSettings = {
  smtpUrl: documentSetting(
    z
      .url({ protocol: /^smtps?$/ })
      .max(2_000)
      .optional(),
    {
      meaning:
        'Mail server that takes approvals, invitations and recovery links for people. `smtp://` requires STARTTLS, except on the loopback. Needs `MAIL_FROM`. For every process.',
      secret: true,
      allowed: 'smtps://user:password@host:465 or smtp://user:password@host:587',
      otherwise: 'none: no e-mail is sent',
    },
  ),
  mailFrom: documentSetting(z.email().max(254).optional(), {
    meaning: 'Sender address of e-mail. Needs `SMTP_URL`.',
    allowed: 'an e-mail address',
    otherwise: 'none',
  }),
  dkimDomain: documentSetting(patternSetting(HOST).optional(), {
    meaning: 'Domain whose DKIM signature (RFC 6376) e-mail bears, if the mail server does not sign.',
    allowed: 'a host name',
    otherwise: 'none: not signed here',
  }),
  dkimSelector: documentSetting(patternSetting(HOST).optional(), {
    meaning: 'Selector of the DKIM key: `<selector>._domainkey.<domain>` has the public one.',
    allowed: 'a label of a host name',
    otherwise: 'none',
  }),
  dkimPrivateKey: documentSetting(z.string().max(20_000).refine(isRsaKey).optional(), {
    meaning: 'DKIM private key.',
    secret: true,
    allowed: 'an RSA key of at least 1024 bits, in PEM',
    otherwise: 'none',
  }),
}

function isRsaKey(pem: string): boolean {
  try {
    const key = createPrivateKey(pem)
    return key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 1_024
  } catch {
    return false
  }
}

type MailSettings = { readonly [Name in keyof typeof mailSettings]?: z.output<(typeof mailSettings)[Name]> }

/** Half a configuration would look like one that works. */
export function assertMail({ smtpUrl, mailFrom, ...dkim }: MailSettings): void {
  if ((smtpUrl === undefined) !== (mailFrom === undefined))
    throw new InvalidSettingError('E-mail needs SMTP_URL and MAIL_FROM. Set both, or neither.')
  const signs = [dkim.dkimDomain, dkim.dkimSelector, dkim.dkimPrivateKey].filter(one => one !== undefined)
  if (signs.length === 0) return
  if (smtpUrl === undefined || signs.length < 3)
    throw new InvalidSettingError(
      'DKIM needs DKIM_DOMAIN, DKIM_SELECTOR and DKIM_PRIVATE_KEY, beside SMTP_URL. Set all of them, or none of the three.',
    )
}

export const smtpOf = ({ smtpUrl, mailFrom, dkimDomain, dkimSelector, dkimPrivateKey }: MailSettings) =>
  smtpUrl === undefined || mailFrom === undefined
    ? null
    : {
        url: smtpUrl,
        from: mailFrom,
        dkim:
          dkimDomain === undefined || dkimSelector === undefined || dkimPrivateKey === undefined
            ? null
            : { domain: dkimDomain, selector: dkimSelector, privateKey: dkimPrivateKey },
      }
