/* SPDX-FileCopyrightText: The Heapwright authors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The search of the site runs in a worker. Browsers refuse workers to pages that are opened as
 * files. There, this class runs the worker's script in a hidden frame instead.
 */
if (location.protocol === "file:") {
    window.Worker = class extends EventTarget {
        constructor(url) {
            super();
            this.frame = document.createElement("iframe");
            this.frame.hidden = true;
            document.body.appendChild(this.frame);
            const inside = this.frame.contentWindow;
            const load = (source) =>
                new Promise((done, failed) => {
                    const script = inside.document.createElement("script");
                    script.src = new URL(source, document.baseURI).href;
                    script.onload = done;
                    script.onerror = failed;
                    inside.document.body.appendChild(script);
                });
            inside.importScripts = (...sources) =>
                sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
            inside.postMessage = (data) => {
                const message = new MessageEvent("message", { data });
                this.dispatchEvent(message);
                if (this.onmessage) this.onmessage(message);
            };
            this.loaded = load(url);
        }
        postMessage(data) {
            const inside = this.frame.contentWindow;
            this.loaded.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
        }
        terminate() {
            this.frame.remove();
        }
    };
}
