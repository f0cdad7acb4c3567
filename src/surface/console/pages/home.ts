import { html } from '../../../web/html.ts'
import type { Page } from '../page.ts'

/** What waits for the person who looks, and what has been spent. */
export const homePage: Page = async () => ({
  title: 'Home',
  content: html`<h1>Home</h1>`,
})
