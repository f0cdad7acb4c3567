import { type Html, html } from '../../../web/html.ts'

/** Strokes on a grid of 24. */
const strokes = {
  home: 'M4 11.2 12 4.5l8 6.7M6.2 9.6V19a.8.8 0 0 0 .8.8h3.2v-5h3.6v5H17a.8.8 0 0 0 .8-.8V9.6',
  inbox:
    'M4.2 13.2 6.6 6a1.4 1.4 0 0 1 1.3-1h8.2a1.4 1.4 0 0 1 1.3 1l2.4 7.2v4.4a1.4 1.4 0 0 1-1.4 1.4H5.6a1.4 1.4 0 0 1-1.4-1.4zM4.4 13.2h4.2l1.2 2.2h4.4l1.2-2.2h4.2',
  payments: 'M5 8.2h13.4M15.2 5l3.2 3.2-3.2 3.2M19 15.8H5.6M8.8 12.6l-3.2 3.2L8.8 19',
  agents:
    'M7.2 8.4h9.6a2.2 2.2 0 0 1 2.2 2.2v5.8a2.2 2.2 0 0 1-2.2 2.2H7.2A2.2 2.2 0 0 1 5 16.4v-5.8a2.2 2.2 0 0 1 2.2-2.2zM12 8.2V5.2M9.6 12.4v1.8M14.4 12.4v1.8M2.8 12v3M21.2 12v3',
  money:
    'M5.4 6.6h11.2a1.8 1.8 0 0 1 1.8 1.8v.6M5.4 6.6a1.5 1.5 0 0 0 0 3h13.2A1.4 1.4 0 0 1 20 11v6.6a1.4 1.4 0 0 1-1.4 1.4H5.8A1.9 1.9 0 0 1 3.9 17V8.1a1.5 1.5 0 0 1 1.5-1.5zM16 14.3h.4',
  insights: 'M4.6 4.6v13.2a1.6 1.6 0 0 0 1.6 1.6h13.2M8.4 15.4v-3.2M12.2 15.4V9.2M16 15.4V6.4',
  developers: 'M8.4 8.2 4.4 12l4 3.8M15.6 8.2l4 3.8-4 3.8M13.4 5.6l-2.8 12.8',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
  filter: 'M4.6 7h14.8M7.6 12h8.8M10.4 17h3.2',
  search: 'M11 5.2a5.8 5.8 0 1 1 0 11.6 5.8 5.8 0 0 1 0-11.6zM15.3 15.3l4 4',
  bar: 'M6 5h12a1.6 1.6 0 0 1 1.6 1.6v10.8A1.6 1.6 0 0 1 18 19H6a1.6 1.6 0 0 1-1.6-1.6V6.6A1.6 1.6 0 0 1 6 5zM9.6 5.2v13.6',
} as const

export type IconName = keyof typeof strokes

export const renderIcon = (name: IconName): Html =>
  html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="${strokes[name]}"/></svg>`
