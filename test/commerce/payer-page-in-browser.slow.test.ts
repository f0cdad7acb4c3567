import './payer-page/in-browser.ts'
