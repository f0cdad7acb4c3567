import { type Html, html } from './html.ts'
import type { Language } from './language.ts'
import { pageAsset } from './page-assets.ts'
import { baseStyle, refusalStyle } from './page-parts.ts'

/** The style of these pages, for those who serve what pages are made of. */
export const plainStyle = pageAsset('plain', 'css', `${baseStyle()}\n${refusalStyle()}`)

interface Words {
  readonly title: string
  readonly again: string
  readonly request: string
  readonly database: {
    readonly title: string
    readonly lead: string
    readonly safe: string
    readonly soon: string
    readonly todo: string
    readonly steps: readonly string[]
  }
}

const words: Readonly<Record<Language, Words>> = {
  en: {
    title: 'This page cannot be shown',
    again: 'Try again',
    request: 'Request',
    database: {
      title: 'The database cannot be reached',
      lead: 'The service runs, and cannot look anything up just now.',
      safe: 'Nothing is lost, and nothing is paid meanwhile: agents get the same answer, and what was under way goes on once the database is back.',
      soon: 'This page asks again every ten seconds.',
      todo: 'What an operator looks at',
      steps: [
        'Whether PostgreSQL runs, and has room on its disk and connections left.',
        'Whether DATABASE_URL of the service still leads to it.',
        'GET /health, and the log of the service: both say when it is back. It needs no restart.',
      ],
    },
  },
  de: {
    title: 'Diese Seite kann nicht gezeigt werden',
    again: 'Noch einmal versuchen',
    request: 'Anfrage',
    database: {
      title: 'Die Datenbank ist nicht erreichbar',
      lead: 'Der Dienst läuft, kann aber gerade nichts nachsehen.',
      safe: 'Nichts ist verloren, und inzwischen wird nichts bezahlt: Agenten bekommen dieselbe Antwort, und was unterwegs war, geht weiter, sobald die Datenbank wieder da ist.',
      soon: 'Diese Seite fragt alle zehn Sekunden noch einmal.',
      todo: 'Was ein Betreiber nachsieht',
      steps: [
        'Ob PostgreSQL läuft und noch Platz und freie Verbindungen hat.',
        'Ob DATABASE_URL des Dienstes noch dorthin führt.',
        'GET /health und das Protokoll des Dienstes: Beide sagen, wann sie wieder da ist. Ein Neustart ist nicht nötig.',
      ],
    },
  },
}

interface Refused {
  readonly code: string
  readonly status: number
  readonly message: string
  /** The way from the page to the root of the service. */
  readonly root: string
  /** By which the request is found in the log. */
  readonly requestId: string
}

/** The page for somebody whose page is refused before anything about it is known. It asks no operation. */
export function refusalPage(refused: Refused, language: Language): Html {
  const { code, status, message, root, requestId } = refused
  const { title, again, request, database } = words[language]
  const isAway = code === 'unavailable'
  const heading = isAway ? database.title : title
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${isAway && html`<meta http-equiv="refresh" content="10">`}
<title>${heading}</title>
<link rel="stylesheet" href="${root}console/assets/${plainStyle.name}">
</head>
<body>
<main>
<p class="code">${status}</p>
<h1>${heading}</h1>
${isAway ? ofDatabase(language) : html`<p lang="en">${message}</p>`}
<p><a class="again" href="">${again}</a></p>
<p class="request">${request} <code>${requestId}</code></p>
</main>
</body>
</html>
`
}

/** What it means for whoever reads it, and what helps. */
function ofDatabase(language: Language): Html {
  const { lead, safe, soon, todo, steps } = words[language].database
  return html`<p class="lead">${lead}</p>
<p>${safe}</p>
<p role="status">${soon}</p>
<details><summary>${todo}</summary><ul>${steps.map(step => html`<li>${step}</li>`)}</ul></details>`
}
