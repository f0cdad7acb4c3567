import type { Context } from '../../kernel/contract/context.ts'
import { type Html, html } from '../../web/html.ts'
import type { Language } from '../../web/language.ts'
import { scripts } from './assets.ts'
import { notice } from './layout.ts'
import { texts } from './texts.ts'

/**
 * The page for somebody who has come by a host to which no passkey belongs, with a link to the right one; undefined where
 * the host is right.
 */
export function wrongAddressPage(
  path: string,
  language: Language,
  { headers, ports }: Pick<Context, 'headers' | 'ports'>,
): Html | undefined {
  const { frame } = texts[language]
  const { origin, origins, unavailable } = ports.relyingParty()
  if (unavailable !== null)
    return notice(language, './', { title: frame.noPasskeysTitle, text: frame.noPasskeys })
  const asked = headers.host?.toLowerCase()
  if (asked === undefined || origins.some(own => new URL(own).host === asked)) return undefined
  return notice(language, './', {
    title: frame.otherHostTitle,
    text: frame.otherHost(new URL(origin).host),
    link: html`<a class="button" href="${ports.pageUrl(path)}" data-elsewhere>${frame.otherHostLink}</a>`,
    script: scripts.elsewhere,
  })
}
